# Untried. nix-build; the programs are static, so nothing has to be patched.
{ pkgs ? import <nixpkgs> { } }:
let
  files = {
    x86_64-linux = { machine = "x86_64"; sha256 = "@SHA256_x86_64@"; };
    aarch64-linux = { machine = "aarch64"; sha256 = "@SHA256_aarch64@"; };
  };
  file = files.${pkgs.stdenv.hostPlatform.system} or (throw "assay-bench has no program for ${pkgs.stdenv.hostPlatform.system}");
in
pkgs.stdenvNoCC.mkDerivation {
  pname = "assay-bench";
  version = "@VERSION@";
  src = pkgs.fetchurl {
    url = "@HOME@/releases/@VERSION@/assay-bench-@VERSION@-${file.machine}-linux.tar.gz";
    inherit (file) sha256;
  };
  nativeBuildInputs = [ pkgs.installShellFiles ];
  dontFixup = true;
  installPhase = ''
    runHook preInstall
    install -Dm755 -t $out/bin assay assay-*
    installManPage man/man1/*.1
    installShellCompletion --cmd assay --bash completions/assay.bash --zsh completions/assay.zsh --fish completions/assay.fish
    runHook postInstall
  '';
  meta = {
    description = "Judges whether a program became faster, by how much, and how sure that is";
    homepage = "@HOME@";
    license = with pkgs.lib.licenses; [ mit asl20 ofl ];
    mainProgram = "assay";
    platforms = builtins.attrNames files;
    sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
  };
}
