package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// generator builds a random story: it creates, reads, updates, deletes and watches a few objects of
// a few kinds. Some requests are invalid on purpose.
type generator struct {
	*rand.Rand
	story story
}

// generate returns a random story with length requests. The same seed gives the same story.
func generate(seed uint64, length int) story {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	g.story = story{name: fmt.Sprintf("random-%d", seed), about: "generated", random: true}
	for len(g.story.steps) < length {
		g.request()
	}
	return g.story
}

// chances are the cumulative probabilities of requests, in percent.
var chances = []struct {
	upTo int
	make func(*generator, *kind)
}{
	{30, (*generator).create}, {38, (*generator).get}, {46, (*generator).list}, {62, (*generator).update},
	{82, (*generator).patch}, {90, (*generator).remove}, {95, (*generator).watch}, {97, (*generator).removeAll}, {100, (*generator).updateStatus},
}

func (g *generator) request() {
	k, n := pick(g, kinds), g.IntN(100)
	for _, chance := range chances {
		if n < chance.upTo {
			chance.make(g, k)
			return
		}
	}
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func (g *generator) name(k *kind) string {
	if k.cluster { // shared by all stories, so the name needs a prefix
		return "$NS-" + pick(g, []string{"a", "b"})
	}
	return pick(g, []string{"a", "b", "c"})
}

func (g *generator) step(verb, target, body string, headers ...string) *step {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	if (verb == "GET" || verb == "POST" || verb == "PUT") && g.oneIn(6) {
		h.Set("Accept", pick(g, []string{protobufType, "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}))
		if verb == "GET" && strings.Contains(h.Get("Accept"), "Partial") {
			h.Del("Accept") // the media type differs between objects and lists
		}
	}
	g.story.steps = append(g.story.steps, step{verb: verb, target: target, body: body, header: h})
	return &g.story.steps[len(g.story.steps)-1]
}

func (k *kind) collection() string {
	if k.cluster {
		return k.api + "/" + k.resource
	}
	return k.api + "/namespaces/$NS/" + k.resource
}

func (g *generator) query(params ...string) string {
	var chosen []string
	for _, p := range params {
		if g.oneIn(8) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return ""
	}
	return "?" + strings.Join(chosen, "&")
}

func (g *generator) create(k *kind) {
	name := g.name(k)
	metadata := "name: " + name
	if g.oneIn(12) && !k.cluster {
		metadata = fmt.Sprintf("generateName: some-%02d-", len(g.story.steps)) // unique prefixes, so that both servers sort the names in the same order
	}
	headers := []string{}
	if g.oneIn(5) {
		headers = []string{"Content-Type", "application/yaml"}
	}
	g.step("POST", k.collection()+g.query("dryRun=All", "fieldValidation=Strict", "fieldValidation=Ignore"), g.object(k, metadata), headers...)
}

// object returns an object of the kind, usually a valid one.
func (g *generator) object(k *kind, metadata string) string {
	labels := pick(g, []string{"{}", "{app: web}", "{app: db}", "{app: web, tier: front}"})
	if g.oneIn(25) {
		labels = pick(g, []string{`{app: "not a value"}`, `{"bad key": x}`, `{app: 1}`})
	}
	if g.oneIn(12) {
		metadata += ", annotations: {note: " + pick(g, []string{"one", "two"}) + "}"
	}
	if g.oneIn(20) {
		metadata += ", finalizers: [example.com/hold]"
	}
	body := pick(g, k.bodies)
	if g.oneIn(5) {
		body = pick(g, k.wrong)
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {%s, labels: %s}\n%s\n", k.version, k.name, metadata, labels, body)
}

func (g *generator) get(k *kind) {
	g.step("GET", k.collection()+"/"+g.name(k)+g.query("resourceVersion=0"), "")
}

func (g *generator) list(k *kind) {
	if k.cluster {
		g.step("GET", k.collection()+"?fieldSelector=metadata.name="+g.name(k), "")
		return
	}
	g.step("GET", k.collection()+g.query("limit=1", "limit=2", "labelSelector=app=web", "labelSelector=app!=web", "labelSelector=app+in+(web,db),tier",
		"fieldSelector=metadata.name=a", "fieldSelector=spec.nothing=a", "resourceVersion=0", "resourceVersion=x", "resourceVersionMatch=Exact", "labelSelector=a+b"), "")
}

// reading adds a GET before a write that needs the current object. It returns the name of the
// answer.
func (g *generator) reading(k *kind, name string) string {
	read := fmt.Sprintf("read%d", len(g.story.steps))
	g.story.steps = append(g.story.steps, step{verb: "GET", target: k.collection() + "/" + name, save: read, header: http.Header{}})
	return read
}

func (g *generator) update(k *kind) {
	name, metadata := g.name(k), ""
	metadata = "name: " + name
	switch g.IntN(5) {
	case 0, 1:
		read := g.reading(k, name)
		metadata += `, resourceVersion: "${` + read + `.metadata.resourceVersion}"`
	case 2:
		if g.oneIn(3) {
			metadata += ", uid: 11111111-2222-3333-4444-555555555555"
		}
	case 3:
		if g.oneIn(3) {
			metadata += `, resourceVersion: "1"`
		}
	}
	g.step("PUT", k.collection()+"/"+name+g.query("dryRun=All", "fieldValidation=Strict"), g.object(k, metadata))
}

func (g *generator) updateStatus(k *kind) {
	if k.status == "" {
		return
	}
	name := g.name(k)
	g.step("PATCH", k.collection()+"/"+name+"/status", k.status, "Content-Type", "application/merge-patch+json")
}

func (g *generator) patch(k *kind) {
	target := k.collection() + "/" + g.name(k) + g.query("dryRun=All", "fieldValidation=Strict")
	general := []string{
		`{"metadata":{"labels":{"app":"web"}}}`, `{"metadata":{"labels":{"app":null,"tier":"back"}}}`, `{"metadata":{"annotations":{"note":"three"}}}`,
		`{"metadata":{"finalizers":null}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"name":"other"}}`, `{"metadata":{"labels":{"app":1}}}`, `{}`, `{"unknown":1}`, `[`, `{"metadata":{"generation":7}}`,
	}
	switch g.IntN(3) {
	case 0:
		g.step("PATCH", target, pick(g, append(general, k.patches...)), "Content-Type", "application/merge-patch+json")
	case 1:
		g.step("PATCH", target, pick(g, append(general, k.patches...)), "Content-Type", "application/strategic-merge-patch+json")
	default:
		g.step("PATCH", target, pick(g, []string{
			`[{"op":"add","path":"/metadata/labels","value":{"app":"db"}}]`, `[{"op":"remove","path":"/metadata/labels/app"}]`,
			`[{"op":"test","path":"/metadata/labels/app","value":"web"},{"op":"replace","path":"/metadata/labels/app","value":"db"}]`,
			`[{"op":"add","path":"/metadata/annotations","value":{"note":"four"}}]`, `[{"op":"move","path":"/nowhere","from":"/nothing"}]`,
			`[{"op":"unknown","path":"/metadata"}]`, `{}`, `[]`,
		}), "Content-Type", "application/json-patch+json")
	}
}

func (g *generator) remove(k *kind) {
	body := ""
	switch g.IntN(6) {
	case 0:
		body = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"11111111-2222-3333-4444-555555555555"}}`
	case 1:
		body = `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`
	case 2:
		body = `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`
	}
	if k.cluster {
		return // deleting a namespace needs a controller, which kube-apiserver alone does not have
	}
	g.step("DELETE", k.collection()+"/"+g.name(k), body)
}

func (g *generator) removeAll(k *kind) {
	if !k.cluster {
		g.step("DELETE", k.collection()+g.query("labelSelector=app=web"), "")
	}
}

// watch adds a watch from the version of a list, so that both servers send the same events.
func (g *generator) watch(k *kind) {
	if k.cluster {
		return
	}
	list := fmt.Sprintf("list%d", len(g.story.steps))
	g.story.steps = append(g.story.steps, step{verb: "GET", target: k.collection(), save: list, header: http.Header{}})
	accept := pick(g, []string{"application/json", protobufType})
	st := g.step("WATCH", k.collection()+"?resourceVersion=${"+list+".metadata.resourceVersion}"+pick(g, []string{"", "&labelSelector=app=web", "&fieldSelector=metadata.name=a"}), "", "Accept", accept)
	st.save = strings.Replace(list, "list", "watch", 1)
}
