# frozen_string_literal: true

# Settings that `assay tests --toggle` compares, for Ruby: loaded by RUBYOPT=-rFILE into every Ruby of the suite, before anything of the project.
# ASSAY_TOGGLES lists what is on. It requires nothing itself, and patches a library when the project has loaded it: a project without
# bcrypt never loads it because of us. One file that needs nothing else; what it patches, it patches once.
module AssayToggles
  ON = ENV.fetch("ASSAY_TOGGLES", "").split(",").freeze

  # No collection during a test, one whenever the next allocation asks for it between two tests.
  module WithoutCollection
    def run(...)
      GC.disable
      super
    ensure
      GC.enable
    end
  end

  # OpenSSL's own functions; OpenSSL::PKCS5, and so the key generators of Rails and Devise, call these.
  module CheapKeys
    def pbkdf2_hmac(pass, **given) = super(pass, **given, iterations: 1)
    def scrypt(pass, **given) = super(pass, **given, N: 2, r: 1, p: 1)
  end

  # Of Ruby before 2.4, and of OpenSSL that has no KDF.
  module CheapPkcs5
    def pbkdf2_hmac(pass, salt, _iterations, length, digest) = super(pass, salt, 1, length, digest)
    def pbkdf2_hmac_sha1(pass, salt, _iterations, length) = super(pass, salt, 1, length)
  end

  # Whatever cost is asked for, has_secure_password's and Devise's among them; a hash that is there is checked with its own cost.
  module CheapBcrypt
    def generate_salt(*) = super(self::MIN_COST)
  end

  module CheapScrypt
    def calibrate(*) = "10$1$1$"
  end

  module CheapArgon2
    def initialize(options = {})
      super(options.reject { |name, _| name == :profile }.merge(t_cost: 1, m_cost: 3, p_cost: 1))
    end
  end

  # Drops messages below a level before they are made, whatever level the logger has.
  module QuietLog
    LEVEL = %w[debug info warn error fatal off].index(ENV["ASSAY_TOGGLES_LOG_LEVEL"]) || 0

    def add(severity, *) = (severity || 5) < LEVEL ? true : super
    %w[debug info warn error fatal].each_with_index do |name, level|
      define_method("#{name}?") { level >= LEVEL && super() }
      define_method(name) { |*words, &block| level < LEVEL ? true : super(*words, &block) }
    end
  end

  # What is patched when it is there: the toggle, the name of a constant, whether its singleton is meant, and the patch.
  PATCHES = [
    ["gc-off", "RSpec::Core::Example", false, WithoutCollection],
    ["gc-off", "Minitest::Test", false, WithoutCollection],
    ["gc-off", "Test::Unit::TestCase", false, WithoutCollection],
    ["hash-cost", "OpenSSL::KDF", true, CheapKeys],
    ["hash-cost", "OpenSSL::PKCS5", true, CheapPkcs5],
    ["hash-cost", "BCrypt::Engine", true, CheapBcrypt],
    ["hash-cost", "SCrypt::Engine", true, CheapScrypt],
    ["hash-cost", "Argon2::Password", false, CheapArgon2],
    ["log-level", "Logger", false, QuietLog],
  ].select { |toggle, *| ON.include?(toggle) }

  class << self
    # Patches what has been loaded since the last look. A class of which only the beginning is loaded will do: what a patch calls, it looks up then.
    def look
      PATCHES.reject! do |_, name, singleton, patch|
        found = loaded(name) or next
        target = singleton ? found.singleton_class : found
        # Rails and others give Minitest's class the name of test-unit's.
        next true if target.include?(patch)
        target.prepend(patch)
        true
      end
    end

    private

    # A constant, unless it is yet to be loaded: asking for one must not load it.
    def loaded(name)
      name.split("::").inject(Object) do |place, part|
        return unless place.is_a?(Module) && place.const_defined?(part, false) && !place.autoload?(part)

        place.const_get(part, false)
      end
    end
  end

  # Looks after everything that is required, for as long as there is something to find.
  module Watch
    def require(path)
      loaded = super
      AssayToggles.look if loaded && !PATCHES.empty?
      loaded
    end
    private :require
  end

  GC.disable if ON.include?("gc-per-process")
  look
  Object.prepend(Watch) unless PATCHES.empty?
end
