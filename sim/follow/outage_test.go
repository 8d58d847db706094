package follow

import (
	"errors"
	"testing"
)

// client-go tries again and again, but an outage is reported once.
func TestOutageIsReportedOnce(t *testing.T) {
	o := &outage{told: make(chan error, 16)}
	o.begin(errors.New("first"))
	o.begin(errors.New("again"))
	if why := o.now(); why == nil || why.Error() != "first" {
		t.Errorf("the outage is because of %v", why)
	}
	o.end()
	if why := o.now(); why != nil {
		t.Errorf("the outage has ended, but: %v", why)
	}
	o.begin(errors.New("second"))
	close(o.told)
	var told []string
	for why := range o.told {
		told = append(told, why.Error())
	}
	if len(told) != 2 || told[0] != "first" || told[1] != "second" {
		t.Errorf("reported %q", told)
	}
}
