package markdown

import "testing"

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"<script>alert(1)</script>":     "&lt;script&gt;alert(1)&lt;/script&gt;",
		"a\n\n# b\r\n\x1b[31m| c":       `a # b \[31m| c`,
		"![x](http://example.com/a_b)":  `!\[x\](http://example.com/a\_b)`,
		"&lt; `code` **bold** ~~gone~~": "&amp;lt; \\`code\\` \\*\\*bold\\*\\* \\~\\~gone\\~\\~",
		`back\slash`:                    `back\\slash`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"reloads == 0":      "`reloads == 0`",
		"a\nb":              "`a b`",
		"`</code><b>`":      "`` `</code><b>` ``",
		"``` many ` fences": "```` ``` many ` fences ````",
	} {
		if got := Code(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
