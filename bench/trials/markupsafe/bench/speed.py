import pyperf

from markupsafe import Markup, escape

PLAIN = "Hello, World! " * 40
HTML = "<p class='a'>Tom & \"Jerry\"</p> " * 40
TAGS = Markup("<li><b>one</b> &amp; <!-- two --> <i>three</i></li> " * 8)
FORM = Markup("<a href=%s>%s</a> " * 6)
WORDS = Markup("{} said {name} to {} and {other}")

runner = pyperf.Runner()
runner.bench_func("escape plain", escape, PLAIN)
runner.bench_func("escape html", escape, HTML)
runner.bench_func("escape object", escape, FORM)
runner.bench_func("striptags", TAGS.striptags)
runner.bench_func("percent", FORM.__mod__, ("<x>",) * 12)
runner.bench_func("format", lambda: WORDS.format("<a>", "b", name="&", other="c"))
runner.bench_func("join", Markup(", ").join, ["<a>", "b", "&"] * 20)
runner.bench_func("split", TAGS.split)
