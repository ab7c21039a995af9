package quantity

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestUnits(t *testing.T) {
	cases := map[string]struct {
		want int64
		ok   bool
	}{
		"0":             {0, true},
		"8":             {8, true},
		"4k":            {4000, true},
		"1500m":         {2, true}, // as the scheduler rounds
		"-1":            {0, false},
		"-1500m":        {0, false},
		"1099511627776": {MaxUnits, true},
		"1099511627777": {MaxUnits, false},
		"1e18":          {MaxUnits, false},
		"1e100000":      {MaxUnits, false},
	}
	for text, tc := range cases {
		if n, ok := Units(resource.MustParse(text)); n != tc.want || ok != tc.ok {
			t.Errorf("Units(%s) = %d, %v, want %d, %v", text, n, ok, tc.want, tc.ok)
		}
	}
}

func TestMiB(t *testing.T) {
	for text, want := range map[string]int64{
		"1Mi": 1, "81559Mi": 81559, "80Gi": 81920, "0.5Gi": 512, "85899345920": 81920, "4Ti": MaxMiB,
		"0": 0, "-1Gi": 0, "1023Ki": 0, "5Ti": 0, "1e18": 0, "1e100000": 0,
	} {
		got := int64(0)
		if m := MiB(resource.MustParse(text)); m != nil {
			got = *m
		}
		if got != want {
			t.Errorf("MiB(%s) = %d, want %d", text, got, want)
		}
	}
}

func TestAnAstronomicQuantityTakesNoTime(t *testing.T) {
	q := resource.MustParse("1e999999999")
	start := time.Now()
	Units(q)
	MiB(q)
	if took := time.Since(start); took > time.Second {
		t.Errorf("reading %s took %s", "1e999999999", took)
	}
}
