# Untried. For a tap of one's own: brew install TAP/assay-bench
class AssayBench < Formula
  desc "Judges whether a program became faster, by how much, and how sure that is"
  homepage "@HOME@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
  depends_on :linux

  on_intel do
    url "@HOME@/releases/@VERSION@/assay-bench-@VERSION@-x86_64-linux.tar.gz"
    sha256 "@SHA256_x86_64@"
  end
  on_arm do
    url "@HOME@/releases/@VERSION@/assay-bench-@VERSION@-aarch64-linux.tar.gz"
    sha256 "@SHA256_aarch64@"
  end

  def install
    bin.install "assay", *Dir["assay-*"]
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/assay.bash" => "assay"
    zsh_completion.install "completions/assay.zsh" => "_assay"
    fish_completion.install "completions/assay.fish"
  end

  test do
    (testpath/"a.txt").write("100\n101\n102\n103\n104\n105\n")
    (testpath/"b.txt").write("50\n51\n52\n53\n54\n55\n")
    assert_match "lower", shell_output("#{bin}/assay compare a.txt b.txt")
  end
end
