# frozen_string_literal: true

# Settings compared by `assay tests --toggle`, for Ruby: loaded through RUBYOPT=-rFILE into every
# Ruby process of the suite, before any project code. ASSAY_TOGGLES lists the active ones. It
# requires nothing itself, and patches a library once the project has loaded it: a project without
# bcrypt never loads bcrypt because of this file. It is self-contained, and applies each patch once.
module AssayToggles
  ON = ENV.fetch("ASSAY_TOGGLES", "").split(",").freeze

  # Prevents collections during a test; between two tests, the next allocation that needs one
  # triggers it.
  module WithoutCollection
    def run(...)
      GC.disable
      super
    ensure
      GC.enable
    end
  end

  # OpenSSL's own functions, called by OpenSSL::PKCS5 and so by the key generators of Rails and
  # Devise.
  module CheapKeys
    def pbkdf2_hmac(pass, **given) = super(pass, **given, iterations: 1)
    def scrypt(pass, **given) = super(pass, **given, N: 2, r: 1, p: 1)
  end

  # For Ruby before 2.4, and OpenSSL without KDF.
  module CheapPkcs5
    def pbkdf2_hmac(pass, salt, _iterations, length, digest) = super(pass, salt, 1, length, digest)
    def pbkdf2_hmac_sha1(pass, salt, _iterations, length) = super(pass, salt, 1, length)
  end

  # Overrides any requested cost, including that of has_secure_password and Devise. Existing hashes
  # are checked at their own cost.
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

  # Drops messages below a level before they are created, regardless of the logger's level.
  module QuietLog
    LEVEL = %w[debug info warn error fatal off].index(ENV["ASSAY_TOGGLES_LOG_LEVEL"]) || 0

    def add(severity, *) = (severity || 5) < LEVEL ? true : super
    %w[debug info warn error fatal].each_with_index do |name, level|
      define_method("#{name}?") { level >= LEVEL && super() }
      define_method(name) { |*words, &block| level < LEVEL ? true : super(*words, &block) }
    end
  end

  # The patches: toggle, name of a constant, whether its singleton class is patched, and the module
  # to prepend.
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
    # Patches libraries loaded since the last call. A partially loaded class is sufficient, since a
    # patch looks up methods when it is called.
    def look
      PATCHES.reject! do |_, name, singleton, patch|
        found = loaded(name) or next
        target = singleton ? found.singleton_class : found
        # Rails and other libraries assign Minitest's class to test-unit's constant.
        next true if target.include?(patch)
        target.prepend(patch)
        true
      end
    end

    private

    # Returns a loaded constant; one that would be autoloaded is not referenced, so as not to load
    # it.
    def loaded(name)
      name.split("::").inject(Object) do |place, part|
        return unless place.is_a?(Module) && place.const_defined?(part, false) && !place.autoload?(part)

        place.const_get(part, false)
      end
    end
  end

  # Checks after every `require`, as long as patches remain.
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
