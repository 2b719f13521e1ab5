#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "tinyxml2.h"

using namespace tinyxml2;

static std::string page() {
    std::string text = "<?xml version=\"1.0\"?>\n<catalog>\n";
    for (int n = 0; n < 200; n++) {
        char line[256];
        snprintf(line, sizeof line, "  <book id=\"%d\" lang=\"en\"><title>Title &amp; more %d</title><price>%d.5</price><!-- note --></book>\n", n, n, n);
        text += line;
    }
    return text + "</catalog>\n";
}

static const std::string PAGE = page();

static void parse(benchmark::State& state) {
    for (auto _ : state) {
        XMLDocument document;
        benchmark::DoNotOptimize(document.Parse(PAGE.c_str(), PAGE.size()));
    }
}
BENCHMARK(parse);

static void print(benchmark::State& state) {
    XMLDocument document;
    document.Parse(PAGE.c_str());
    for (auto _ : state) {
        XMLPrinter printer(nullptr, true);
        document.Print(&printer);
        benchmark::DoNotOptimize(printer.CStr());
    }
}
BENCHMARK(print);

static void walk(benchmark::State& state) {
    XMLDocument document;
    document.Parse(PAGE.c_str());
    for (auto _ : state) {
        double sum = 0;
        for (XMLElement* book = document.RootElement()->FirstChildElement("book"); book; book = book->NextSiblingElement("book"))
            sum += book->FirstChildElement("price")->DoubleText() + book->IntAttribute("id");
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(walk);

static void build(benchmark::State& state) {
    for (auto _ : state) {
        XMLDocument document;
        XMLElement* root = document.NewElement("root");
        document.InsertEndChild(root);
        for (int n = 0; n < 100; n++) {
            XMLElement* child = root->InsertNewChildElement("child");
            child->SetAttribute("number", n);
            child->SetText("some text");
        }
        benchmark::DoNotOptimize(root);
    }
}
BENCHMARK(build);

static void copy(benchmark::State& state) {
    XMLDocument document, target;
    document.Parse(PAGE.c_str());
    for (auto _ : state) document.DeepCopy(&target);
}
BENCHMARK(copy);

static void numbers(benchmark::State& state) {
    char text[64];
    for (auto _ : state) {
        int64_t sum = 0;
        for (int n = 0; n < 100; n++) {
            int64_t value = 0;
            XMLUtil::ToStr(static_cast<int64_t>(n) * 1234567, text, sizeof text);
            XMLUtil::ToInt64(text, &value);
            sum += value;
        }
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(numbers);

BENCHMARK_MAIN();
