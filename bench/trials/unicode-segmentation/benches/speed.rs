use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;
use unicode_segmentation::UnicodeSegmentation;

const TEXTS: [(&str, &str); 3] = [
    ("english", "The quick (\"brown\") fox can't jump 32.3 feet, right? Mr. Fox said so. "),
    ("hindi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। "),
    ("emoji", "🇷🇸🇮🇴 👩‍👩‍👧‍👦 a̐éö̲ 👍🏽 done. "),
];

fn speed(c: &mut Criterion) {
    for (name, text) in TEXTS {
        let text = text.repeat(30);
        c.bench_function(&format!("graphemes {name}"), |b| b.iter(|| black_box(&text).graphemes(true).count()));
        c.bench_function(&format!("word bounds {name}"), |b| b.iter(|| black_box(&text).split_word_bounds().count()));
    }
    let text = TEXTS[0].1.repeat(30);
    c.bench_function("words", |b| b.iter(|| black_box(&text).unicode_words().count()));
    c.bench_function("sentences", |b| b.iter(|| black_box(&text).split_sentence_bounds().count()));
}

criterion_group!(benches, speed);
criterion_main!(benches);
