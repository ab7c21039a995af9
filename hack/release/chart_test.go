package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

func realChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load("../../" + chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheChartCanBeReleased(t *testing.T) {
	if err := checkChart(realChart(t), ""); err != nil {
		t.Error(err)
	}
}

func TestAChartThatNamesAnotherVersionOrImageIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*chart.Chart)
		tag    string
		want   string
	}{
		"the tag is another version":    {tag: "v9.9.9", want: "the tag is v9.9.9"},
		"the tag has no v":              {tag: "1.2.3", want: "the tag is 1.2.3"},
		"the chart and the app differ":  {change: func(c *chart.Chart) { c.Metadata.AppVersion = "9.9.9" }, want: "appVersion 9.9.9"},
		"the chart has another image":   {change: func(c *chart.Chart) { c.Values["image"] = map[string]any{"repository": "example.com/x"} }, want: "example.com/x"},
		"the chart has no image at all": {change: func(c *chart.Chart) { delete(c.Values, "image") }, want: "image.repository"},
	} {
		t.Run(name, func(t *testing.T) {
			c := realChart(t)
			c.Metadata.Version, c.Metadata.AppVersion = "1.2.3", "1.2.3"
			if tc.change != nil {
				tc.change(c)
			}
			if err := checkChart(c, tc.tag); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("checkChart() = %v: want an error with %q", err, tc.want)
			}
		})
	}
	c := realChart(t)
	c.Metadata.Version, c.Metadata.AppVersion = "1.2.3", "1.2.3"
	if err := checkChart(c, "v1.2.3"); err != nil {
		t.Errorf("checkChart() = %v for a tag that fits", err)
	}
}

func TestPackagingTwiceGivesTheSameBytes(t *testing.T) {
	at := time.Unix(1_780_000_000, 0)
	first, err := packageChart(realChart(t), t.TempDir(), at)
	if err != nil {
		t.Fatal(err)
	}
	second, err := packageChart(realChart(t), t.TempDir(), at)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two archives of one chart differ")
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	names := func(c *chart.Chart) []string {
		var names []string
		for _, f := range append(c.Templates, c.Files...) {
			names = append(names, f.Name)
		}
		return names
	}
	if diff := cmp.Diff(names(realChart(t)), names(loaded)); diff != "" {
		t.Errorf("files (-chart +archive):\n%s", diff)
	}
}

func TestAChartComesBackFromARegistryAsItWasPushed(t *testing.T) {
	server, err := startRegistry()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Error(err)
		}
	})
	c := realChart(t)
	at := time.Unix(1_780_000_000, 0)
	archive, err := packageChart(c, t.TempDir(), at)
	if err != nil {
		t.Fatal(err)
	}
	client, err := helmClient(true)
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, owner := range []string{"one", "two"} {
		ref := server.addr + "/" + owner + "/" + chartName + ":" + c.Metadata.Version
		digest, err := pushChart(client, archive, ref, at)
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("one archive has the digests %s", digests)
	}
}
