package validation

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// maxCronJobName is the maximum length of a CronJob's name: its jobs have names with 11 more
// characters.
const maxCronJobName = 63 - 11

func CronJob(job, old *batchv1.CronJob, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&job.Spec, &old.Spec) {
		return nil
	}
	spec, at := &job.Spec, field.NewPath("spec")
	problems = append(problems, validateSchedule(spec, at.Child("schedule"))...)
	problems = append(problems, notNegative(at.Child("startingDeadlineSeconds"), spec.StartingDeadlineSeconds)...)
	problems = append(problems, validateTimeZone(spec.TimeZone, at.Child("timeZone"))...)
	problems = append(problems, oneOf(at.Child("concurrencyPolicy"), spec.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)...)
	problems = append(problems, validateJobTemplate(&spec.JobTemplate.Spec, at.Child("jobTemplate", "spec"))...)
	problems = append(problems, notNegative(at.Child("successfulJobsHistoryLimit"), spec.SuccessfulJobsHistoryLimit)...)
	problems = append(problems, notNegative(at.Child("failedJobsHistoryLimit"), spec.FailedJobsHistoryLimit)...)
	if old == nil && len(job.Name) > maxCronJobName {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "name"), job.Name, "must be no more than 52 characters"))
	}
	return problems
}

func validateSchedule(spec *batchv1.CronJobSpec, path *field.Path) (problems field.ErrorList) {
	if spec.Schedule == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if err := parseSchedule(spec.Schedule); err != nil {
		problems = append(problems, field.Invalid(path, spec.Schedule, err.Error()))
	}
	if strings.Contains(spec.Schedule, "TZ") {
		problems = append(problems, field.Invalid(path, spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	return problems
}

// parseSchedule returns an error if a schedule is invalid. The library panics on some invalid ones.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("invalid schedule format: %v", problem)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

var partOfTimeZone = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func validateTimeZone(zone *string, path *field.Path) (problems field.ErrorList) {
	switch {
	case zone == nil:
		return nil
	case *zone == "":
		return field.ErrorList{field.Invalid(path, zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !partOfTimeZone.MatchString(part) {
			return field.ErrorList{field.Invalid(path, zone, "unknown time zone "+*zone)}
		}
	}
	if strings.EqualFold(*zone, "Local") {
		problems = append(problems, field.Invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		problems = append(problems, field.Invalid(path, zone, err.Error()))
	}
	return problems
}

func validateJobTemplate(spec *batchv1.JobSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, validateJobSpec(spec, at)...)
	if spec.Selector != nil {
		problems = append(problems, field.Invalid(at.Child("selector"), spec.Selector, "`selector` will be auto-generated"))
	}
	if ptrTo(spec.ManualSelector, false) {
		problems = append(problems, field.NotSupported(at.Child("manualSelector"), spec.ManualSelector, []string{"nil", "false"}))
	}
	return problems
}
