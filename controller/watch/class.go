package watch

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// ClassAnnotation is the deprecated annotation for the class, the predecessor of
// spec.ingressClassName.
const ClassAnnotation = "kubernetes.io/ingress.class"

// ours reports whether this controller serves the class of an ingress. spec.ingressClassName takes
// precedence over the annotation and must name an existing IngressClass; see followAnew.
func (s *Store) ours(ingress *networkingv1.Ingress) bool {
	if name := ingress.Spec.IngressClassName; name != nil && !s.options.IgnoreClasses {
		class, exists, err := s.classes.GetIndexer().GetByKey(*name)
		return err == nil && exists && s.servesClass(class.(*networkingv1.IngressClass))
	}
	if name, given := ingress.Annotations[ClassAnnotation]; given {
		return name == s.options.IngressClass
	}
	return s.options.WithoutClass
}

// servesClass reports whether this controller serves a class.
func (s *Store) servesClass(class *networkingv1.IngressClass) bool {
	return class.Spec.Controller == s.options.ControllerClass ||
		s.options.ClassByName && class.Name == s.options.IngressClass
}
