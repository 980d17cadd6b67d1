// swift-tools-version: 6.2
import PackageDescription

/// The library modules import what is below them as implementation only (see `NamesBelow.swift`). The compiler warns
/// about that in every build of a package that depends on this one by its path, and has no switch for this warning
/// alone. SwiftPM itself silences dependencies with a version, which lie in `checkouts`, and takes no such flag there.
/// `THREADKEEPER_WARNINGS=1 swift build` shows all warnings.
let isCheckout = Context.packageDirectory.contains("/checkouts/")
let librarySettings: [SwiftSetting] =
  isCheckout || Context.environment["THREADKEEPER_WARNINGS"] != nil ? [] : [.unsafeFlags(["-suppress-warnings"])]

/// Other packages, for the daemon alone: a program that has the libraries without traits does not even fetch them.
func ofDaemon(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Daemon"]))
}
let arguments = ofDaemon("ArgumentParser", "swift-argument-parser")
let logging = ofDaemon("Logging", "swift-log")
let lifecycle = ofDaemon("ServiceLifecycle", "swift-service-lifecycle")
let signals = ofDaemon("UnixSignals", "swift-service-lifecycle")

/// The goal that is made, of those that have programs of their own. No other build links these.
let goal = Context.environment["THREADKEEPER_GOAL"]
/// A program of a goal. Without a goal it is a library, so that builds of the tests compile it and notice when it breaks.
func program(_ name: String, of own: String, dependencies: [Target.Dependency], path: String, exclude: [String] = [])
  -> [Target]
{
  switch goal {
  case own: [.executableTarget(name: name, dependencies: dependencies, path: path, exclude: exclude)]
  case nil: [.target(name: name, dependencies: dependencies, path: path, exclude: exclude)]
  default: []
  }
}
let goalTargets =
  // The figures. Bare subscribers, a bare publisher and a bare table, in C to compare with. The third links with libFuzzer
  // only.
  program(
    "threadkeeper-bench", of: "bench",
    dependencies: [
      "BorderAgentDouble", "Bridge", "Broker", "CBareDatabase", "CBareSubscriber", "CLibMosquitto", "CLibSodium",
      "Home", "KeychainCore", "MeshCoP", "SQLiteDatabase", "SodiumCrypto", "ThreadDataset", arguments,
    ], path: "Benchmarks", exclude: ["CBareDatabase", "CBareSubscriber", "Peers"])
  // Threads at work on the keychain. It depends on little, because all of that is built once more for the sanitizer.
  + program(
    "keychain-stress", of: "stress", dependencies: ["KeychainCore", "Security", "SodiumCrypto"], path: "Stress")
  + (goal == nil || goal == "bench"
    ? [
      .target(
        name: "CBareSubscriber", dependencies: ["CLibMosquitto", "CLibSQLite", "CLibSodium"],
        path: "Benchmarks/CBareSubscriber"),
      .target(name: "CBareDatabase", dependencies: ["CLibSQLite"], path: "Benchmarks/CBareDatabase"),
    ] : [])
  + (goal == "fuzz"
    ? [.executableTarget(name: "threadkeeper-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Program")] : [])

/// The floors, lowest first; an import never goes up. See docs/explanation/code-map.md.
let package = Package(
  name: "threadkeeper",
  products: [
    .library(name: "Security", targets: ["Security"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "ThreadDataset", targets: ["ThreadDataset"]),
    .library(name: "ThreadNetwork", targets: ["ThreadNetwork"]),
    .executable(name: "threadkeeper", targets: ["threadkeeper"]),
  ],
  traits: [
    .default(enabledTraits: ["Daemon"]),
    .trait(
      name: "Daemon",
      description: "The program `threadkeeper`. The libraries do without it, and so without all other packages."),
    .trait(
      name: "Fleet",
      description: "Thousands of homes in shards on PostgreSQL: the commands `threadkeeper fleet`. Needs libpq.",
      enabledTraits: ["Daemon"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // Floor 0: system libraries, and what is pure.
    // Without pkg-config: what it says of avahi has a flag that SwiftPM warns about in every build.
    .systemLibrary(name: "CLibAvahi", providers: [.apt(["libavahi-client-dev"])]),
    .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
    .systemLibrary(name: "CLibSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CLibSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // Loaded by the agents, not linked: the daemon shall not have it.
    .target(name: "CLibCurl"), .target(name: "ThreadDataset"), .target(name: "ThreadkeeperSupport"),
    // A home as a value: no I/O, no clock, no randomness.
    .target(name: "Home", dependencies: ["ThreadDataset", "ThreadkeeperSupport"]),

    // Floor 1: the messages; what can be asked of a daemon; one outside thing each: libsodium, SQLite, the broker, the
    // local socket, avahi-daemon, a border router.
    .target(name: "Wire", dependencies: ["Home", "ThreadDataset", "ThreadkeeperSupport"]),
    .target(name: "ThreadRequests", dependencies: ["Home", "ThreadDataset", "ThreadkeeperSupport", "Wire"]),
    .target(name: "SodiumCrypto", dependencies: ["CLibSodium"]),
    .target(name: "SQLiteDatabase", dependencies: ["CLibSQLite", "ThreadkeeperSupport"]),
    // For the program and the tests: no library product has it.
    .target(name: "CSocketBuffer"),
    .target(
      name: "Broker",
      dependencies: [
        "CLibMosquitto", "CSocketBuffer", "Home", "SodiumCrypto", "ThreadDataset", "ThreadRequests",
        "ThreadkeeperSupport", "Wire",
      ]), .target(name: "LocalAPI", dependencies: ["SodiumCrypto", "ThreadRequests", "ThreadkeeperSupport", "Wire"]),
    .target(name: "ServiceDiscovery", dependencies: ["CLibAvahi", "ThreadkeeperSupport"]),
    .target(name: "MeshCoP", dependencies: ["CLibCrypto", "SodiumCrypto", "ThreadDataset", "ThreadkeeperSupport"]),
    // libmicrohttpd, loaded when it is needed: see its header.
    .target(name: "CLibMicroHTTPD"),

    // Floor 2: the settings; the encrypted store.
    .target(name: "Settings", dependencies: ["Broker", "CLibYAML", "Home", "ThreadkeeperSupport", logging]),
    .target(name: "KeychainCore", dependencies: ["SQLiteDatabase", "SodiumCrypto", "ThreadkeeperSupport"]),

    // Floor 3: Apple's Keychain Services for other programs.
    .target(name: "Security", dependencies: ["KeychainCore", "ThreadkeeperSupport"], swiftSettings: librarySettings),
    .target(name: "LocalAuthentication", dependencies: ["Security"]),

    // Floor 4: homes in the store, and the service around them.
    // Homes in an encrypted store, and what they answer: no broker, so other programs can have it.
    .target(
      name: "HomeStore",
      dependencies: [
        "Home", "KeychainCore", "SodiumCrypto", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport", "Wire",
      ]),
    // The homes of a daemon, with what is around them: messages in, records written, states and events out.
    .target(
      name: "Bridge",
      dependencies: [
        "Broker", "Home", "HomeStore", "KeychainCore", "MeshCoP", "SQLiteDatabase", "ServiceDiscovery", "Settings",
        "SodiumCrypto", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport", "Wire", logging, lifecycle,
      ]),

    // Floor 5: Thread credentials for other programs; HTTP; agents; the daemon with its commands.
    .target(
      name: "ThreadNetwork",
      dependencies: [
        "Home", "HomeStore", "KeychainCore", "LocalAPI", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport",
      ], swiftSettings: librarySettings),
    .target(
      name: "StatusPage", dependencies: ["CLibMicroHTTPD", "Settings", "ThreadkeeperSupport", logging, lifecycle],
      resources: [.embedInCode("Resources")]),
    .target(
      name: "BorderRouterAgent",
      dependencies: [
        "Broker", "CLibCurl", "Home", "SodiumCrypto", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport", "Wire",
        logging,
      ]),
    // The daemon and its commands.
    .target(
      name: "Threadkeeper",
      dependencies: [
        "BorderRouterAgent", "Bridge", "Broker", "Home", "HomeStore", "KeychainCore", "LocalAPI", "MeshCoP",
        "SQLiteDatabase", "ServiceDiscovery", "Settings", "SodiumCrypto", "StatusPage", "ThreadDataset",
        "ThreadRequests", "ThreadkeeperSupport", "Wire", arguments, logging, lifecycle, signals,
      ]),
    // Floor 6: shards on PostgreSQL, and their commands. Empty without the trait of its name.
    .target(
      name: "Fleet",
      dependencies: [
        "Bridge", "Broker", .target(name: "CLibPQ", condition: .when(traits: ["Fleet"])), "Home", "HomeStore",
        "KeychainCore", "LocalAPI", "Settings", "SodiumCrypto", "StatusPage", "ThreadDataset", "Threadkeeper",
        "ThreadkeeperSupport", arguments, logging, lifecycle,
      ]),

    // Floor 7. The program alone zeroes what it frees; a program that uses the libraries decides for itself.
    .target(name: "CZeroingFree"),
    .executableTarget(
      name: "threadkeeper",
      dependencies: ["CZeroingFree", .target(name: "Fleet", condition: .when(traits: ["Fleet"])), "Threadkeeper"],
      path: "Sources/Program"),

    // The sources of the examples, so that every build of the tests has them too. Each has a package
    // of its own beside them, which `make consumer` builds.
    .executableTarget(
      name: "KeychainClientExample", dependencies: ["Security"],
      path: "examples/keychain-client/Sources/keychain-client"),
    .executableTarget(
      name: "ThreadClientExample", dependencies: ["ThreadNetwork"], path: "examples/thread-client/Sources/thread-client"
    ),

    // What `make fuzz` and a test of its seeds check for any bytes.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "BorderAgentDouble", "Bridge", "Broker", "Home", "LocalAPI", "MeshCoP", "Security", "ServiceDiscovery",
        "Settings", "SodiumCrypto", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport", "Wire",
      ], path: "Tests/Fuzz/Targets"), .testTarget(name: "FuzzTargetsTests", dependencies: ["FuzzTargets"]),

    // Tests: a target for each target, and what they share.
    .target(name: "CTestSandbox", path: "Tests/CTestSandbox"),
    .target(
      name: "TestKit",
      dependencies: [
        "Bridge", "Broker", "CLibSQLite", "CTestSandbox", "Home", "KeychainCore", "SodiumCrypto", "ThreadDataset",
        "ThreadRequests", "ThreadkeeperSupport", logging,
      ], path: "Tests/TestKit"),
    // The border agent of a router.
    .target(
      name: "BorderAgentDouble", dependencies: ["MeshCoP", "SodiumCrypto", "ThreadkeeperSupport"],
      path: "Tests/BorderAgentDouble"),
    // Looks for services, and publishes some, as a process of its own: where D-Bus is, libdbus reads once in a process.
    .executableTarget(
      name: "service-probe", dependencies: ["CLibAvahi", "ServiceDiscovery", "ThreadDataset"],
      path: "Tests/ServiceProbe"),
    .testTarget(name: "ThreadDatasetTests", dependencies: ["TestKit", "ThreadDataset"], resources: [.copy("Vectors")]),
    .testTarget(name: "HomeTests", dependencies: ["Home", "ThreadDataset"]),
    .testTarget(name: "ThreadkeeperSupportTests", dependencies: ["TestKit", "ThreadkeeperSupport"]),
    .testTarget(name: "WireTests", dependencies: ["Home", "TestKit", "ThreadDataset", "ThreadkeeperSupport", "Wire"]),
    .testTarget(name: "SodiumCryptoTests", dependencies: ["SodiumCrypto", "TestKit"]),
    .testTarget(name: "SQLiteDatabaseTests", dependencies: ["SQLiteDatabase", "TestKit"]),
    .testTarget(
      name: "BrokerTests",
      dependencies: [
        "Broker", "CSocketBuffer", "Home", "SodiumCrypto", "TestKit", "ThreadDataset", "ThreadkeeperSupport", "Wire",
      ]),
    .testTarget(
      name: "LocalAPITests",
      dependencies: ["LocalAPI", "TestKit", "ThreadDataset", "ThreadRequests", "ThreadkeeperSupport"],
      exclude: ["Golden"]),
    .testTarget(
      name: "ServiceDiscoveryTests", dependencies: ["ServiceDiscovery", "TestKit", "ThreadDataset", "service-probe"]),
    .testTarget(
      name: "MeshCoPTests",
      dependencies: [
        "BorderAgentDouble", "CLibCrypto", "MeshCoP", "SodiumCrypto", "ThreadDataset", "ThreadkeeperSupport",
      ], resources: [.copy("Recorded")]),
    .testTarget(
      name: "KeychainCoreTests", dependencies: ["KeychainCore", "SodiumCrypto", "TestKit", "ThreadkeeperSupport"]),
    .testTarget(
      name: "ThreadRequestsTests", dependencies: ["Home", "TestKit", "ThreadDataset", "ThreadRequests", "Wire"]),
    .testTarget(
      name: "SecurityTests",
      dependencies: [
        "FuzzTargets", "KeychainCore", "LocalAuthentication", "SQLiteDatabase", "Security", "SodiumCrypto", "TestKit",
      ]),
    .testTarget(
      name: "ThreadNetworkTests",
      dependencies: [
        "Home", "HomeStore", "KeychainCore", "LocalAPI", "SQLiteDatabase", "TestKit", "ThreadDataset", "ThreadNetwork",
        "ThreadRequests",
      ]),
    .testTarget(
      name: "HomeStoreTests", dependencies: ["Home", "HomeStore", "KeychainCore", "SodiumCrypto", "ThreadDataset"]),
    .testTarget(
      name: "BridgeTests",
      dependencies: [
        "BorderAgentDouble", "Bridge", "Broker", "Home", "HomeStore", "KeychainCore", "SQLiteDatabase",
        "ServiceDiscovery", "Settings", "SodiumCrypto", "TestKit", "ThreadDataset", "ThreadRequests",
        "ThreadkeeperSupport", "Wire", logging,
      ], exclude: ["Golden"]), .testTarget(name: "SettingsTests", dependencies: ["Settings", "TestKit"]),
    .testTarget(name: "StatusPageTests", dependencies: ["Settings", "StatusPage", "TestKit", logging, lifecycle]),
    .target(
      name: "DaemonTestKit",
      dependencies: [
        "Bridge", "Broker", "Home", "HomeStore", "KeychainCore", "SQLiteDatabase", "Settings", "SodiumCrypto",
        "TestKit", "ThreadDataset",
      ], path: "Tests/DaemonTestKit"),
    .testTarget(
      name: "BorderRouterAgentTests",
      dependencies: [
        "BorderRouterAgent", "Broker", "Home", "SodiumCrypto", "TestKit", "ThreadDataset", "ThreadRequests",
        "ThreadkeeperSupport", "Wire",
      ], exclude: ["Golden"], resources: [.copy("Recorded")]),
    .testTarget(
      name: "ThreadkeeperTests",
      dependencies: [
        "DaemonTestKit", "KeychainCore", "LocalAPI", "SodiumCrypto", "TestKit", "ThreadRequests", "Threadkeeper",
        "threadkeeper",
      ], exclude: ["Golden"]),
    .testTarget(
      name: "FleetTests",
      dependencies: [
        "Bridge", "Broker", .target(name: "CLibPQ", condition: .when(traits: ["Fleet"])), "DaemonTestKit", "Fleet",
        "Home", "HomeStore", "KeychainCore", "LocalAPI", "Settings", "SodiumCrypto", "StatusPage", "TestKit",
        "ThreadDataset", "Threadkeeper", "ThreadkeeperSupport", "threadkeeper", logging,
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "BorderAgentDouble", "Broker", "Home", "HomeStore", "KeychainClientExample", "KeychainCore", "LocalAPI",
        "SQLiteDatabase", "Settings", "SodiumCrypto", "TestKit", "ThreadClientExample", "ThreadDataset",
        "ThreadNetwork", "ThreadRequests", "Threadkeeper", "ThreadkeeperSupport", "Wire", "service-probe",
        "threadkeeper",
      ]),
  ] + goalTargets, swiftLanguageModes: [.v6])

// A file imports all modules whose members it uses. Without this one that does not builds where another file of its
// module, or a test of it, imports them. The libraries import what is below them in one file: see `NamesBelow.swift`.
let withOwnImports = package.targets.filter {
  ($0.type == .regular || $0.type == .executable) && $0.path?.hasPrefix("Sources/") != false && $0.swiftSettings == nil
    && !$0.name.hasPrefix("C")
}
for target in withOwnImports { target.swiftSettings = [.enableUpcomingFeature("MemberImportVisibility")] }
