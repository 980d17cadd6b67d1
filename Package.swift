// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The library modules import what is below them as implementation only (see `NamesBelow.swift`). The compiler warns
/// about that in every build of a package that depends on this one by its path, and has no switch for this warning
/// alone. SwiftPM itself silences dependencies with a version, which lie in `checkouts`, and takes no such flag there.
/// `THREADKEEPER_WARNINGS=1 swift build` shows all warnings.
let isCheckout = Context.packageDirectory.contains("/checkouts/")
let librarySettings: [SwiftSetting] =
  isCheckout || Context.environment["THREADKEEPER_WARNINGS"] != nil
  ? [] : [.unsafeFlags(["-suppress-warnings"])]

/// The program of `make fuzz` links with libFuzzer only, so it is there for that goal only.
let fuzzProgram: [Target] =
  Context.environment["THREADKEEPER_FUZZ"] == nil
  ? []
  : [
    .executableTarget(
      name: "threadkeeper-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Program")
  ]

/// The floors, lowest first; an import goes down only. See docs/explanation/architecture.md.
let package = Package(
  name: "threadkeeper",
  products: [
    .library(name: "Security", targets: ["Security"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "ThreadDataset", targets: ["ThreadDataset"]),
    .library(name: "ThreadNetwork", targets: ["ThreadNetwork"]),
    .executable(name: "threadkeeper", targets: ["threadkeeper"]),
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
    .systemLibrary(
      name: "CLibMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
    .systemLibrary(
      name: "CLibSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
      name: "CLibSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    // Loaded by the agents, not linked: the daemon shall not have it.
    .target(name: "CLibCurl"),
    .target(name: "ThreadDataset"),
    .target(name: "BoundedJSON"),
    .target(name: "SystemThreads"),

    // Floor 1: one outside thing each.
    .target(name: "SodiumCrypto", dependencies: ["CLibSodium"]),
    .target(name: "SQLiteDatabase", dependencies: ["CLibSQLite"]),
    .target(name: "MosquittoClient", dependencies: ["CLibMosquitto", "SystemThreads"]),
    .target(
      name: "VarlinkSocket", dependencies: ["BoundedJSON", "SodiumCrypto", "SystemThreads"]),
    .target(name: "ServiceDiscovery", dependencies: ["CLibAvahi", "SystemThreads"]),
    .target(name: "StatePlaces"),
    .target(name: "Terminal"),
    .target(name: "BrokerAccess", dependencies: ["BridgeProtocol"]),
    .target(name: "EmbeddedBroker", dependencies: ["BrokerAccess", "SystemThreads"]),
    .target(name: "YAMLReader", dependencies: ["CLibYAML"]),
    .target(name: "LogFormat", dependencies: [.product(name: "Logging", package: "swift-log")]),
    // libmicrohttpd, loaded when it is needed: see its header.
    .target(name: "CLibMicroHTTPD"),

    // Floor 2: the encrypted store, what travels on the broker and how it is sealed, and what can be
    // asked of a daemon.
    .target(name: "KeychainCore", dependencies: ["SodiumCrypto", "SQLiteDatabase"]),
    .target(
      name: "BridgeProtocol", dependencies: ["BoundedJSON", "SodiumCrypto", "ThreadDataset"]),
    .target(name: "SealedEnvelope", dependencies: ["BoundedJSON", "SodiumCrypto"]),
    .target(name: "ThreadRequests", dependencies: ["ThreadDataset"]),
    .target(name: "BrokerProbe", dependencies: ["BridgeProtocol", "MosquittoClient"]),

    // What the local API has of that.
    .target(name: "LocalRequests", dependencies: ["ThreadRequests", "VarlinkSocket"]),

    // Floor 3: the rules of Keychain Services, and the module for other programs; Thread credentials, the broker's password, the keys
    // of enrolled clients, and who may have which credentials, as keychain items.
    .target(
      name: "KeychainServices", dependencies: ["KeychainCore", "SQLiteDatabase", "SodiumCrypto"]),
    .target(
      name: "Security", dependencies: ["KeychainCore", "KeychainServices", "Terminal"],
      swiftSettings: librarySettings),
    .target(name: "LocalAuthentication", dependencies: ["Security"]),
    .target(
      name: "ThreadCredentialStore",
      dependencies: ["KeychainCore", "SodiumCrypto", "SQLiteDatabase", "ThreadDataset"]),

    .target(
      name: "BrokerLoginStore", dependencies: ["KeychainCore", "SQLiteDatabase", "SodiumCrypto"]),
    .target(
      name: "ClientEnrolment",
      dependencies: ["KeychainCore", "SQLiteDatabase", "SealedEnvelope", "SodiumCrypto"]),
    .target(
      name: "ConsentLedger",
      dependencies: [
        "KeychainCore", "Terminal", "SQLiteDatabase", "SodiumCrypto", "ThreadDataset",
        "ThreadRequests",
      ]),

    // Floor 4: what comes of requests, whoever asks; the service and its settings.
    .target(
      name: "CredentialService",
      dependencies: [
        "ConsentLedger", "KeychainCore", "SQLiteDatabase", "ThreadCredentialStore", "ThreadDataset",
        "ThreadRequests",
      ]),
    .target(
      name: "Bridge",
      dependencies: [
        "BoundedJSON", "BridgeProtocol", "BrokerAccess", "ClientEnrolment", "ConsentLedger",
        "CredentialService", "KeychainCore", "MosquittoClient", "SQLiteDatabase",
        "SealedEnvelope", "ServiceDiscovery", "SodiumCrypto", "Terminal",
        "ThreadCredentialStore", "ThreadDataset", "ThreadRequests",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .target(
      name: "Settings",
      dependencies: ["BrokerAccess", "StatePlaces", "YAMLReader"]),

    // Floor 5: Thread credentials for other programs; HTTP; the daemon; the commands.
    .target(
      name: "ThreadNetwork",
      dependencies: [
        "CredentialService", "KeychainCore", "LocalRequests", "Terminal",
        "SQLiteDatabase", "StatePlaces", "SystemThreads", "ThreadCredentialStore", "ThreadDataset",
        "ThreadRequests", "VarlinkSocket",
      ], swiftSettings: librarySettings),
    .target(
      name: "StatusPage",
      dependencies: [
        "CLibMicroHTTPD", "SystemThreads", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .target(
      name: "ThreadkeeperDaemon",
      dependencies: [
        "Bridge", "BridgeProtocol", "BrokerLoginStore", "ClientEnrolment", "ConsentLedger",
        "CredentialService", "EmbeddedBroker", "KeychainCore", "LocalRequests",
        "MosquittoClient", "SQLiteDatabase", "SealedEnvelope", "ServiceDiscovery", "Settings",
        "SodiumCrypto",
        "StatePlaces", "StatusPage", "SystemThreads",
        "ThreadCredentialStore", "ThreadDataset", "ThreadRequests", "VarlinkSocket",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .target(
      name: "BorderRouterAgent",
      dependencies: [
        "BoundedJSON", "BridgeProtocol", "CLibCurl", "MosquittoClient", "SealedEnvelope",
        "SodiumCrypto", "SystemThreads", "ThreadDataset",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "ThreadkeeperCLI",
      dependencies: [
        "BorderRouterAgent",
        "BoundedJSON", "Bridge", "BridgeProtocol", "BrokerAccess", "BrokerLoginStore",
        "BrokerProbe", "ClientEnrolment",
        "ConsentLedger", "CredentialService", "EmbeddedBroker", "KeychainCore",
        "LocalRequests", "LogFormat", "MosquittoClient", "SealedEnvelope", "ServiceDiscovery",
        "Settings",
        "SodiumCrypto",
        "StatePlaces", "StatusPage",
        "SystemThreads", "Terminal", "ThreadCredentialStore", "ThreadDataset", "ThreadRequests",
        "ThreadkeeperDaemon",
        "VarlinkSocket",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // Floor 6.
    // The program alone zeroes what it frees; a program that uses the libraries decides for itself.
    .target(name: "CZeroingFree"),
    .executableTarget(name: "threadkeeper", dependencies: ["CZeroingFree", "ThreadkeeperCLI"]),

    // The sources of the examples, so that every build of the tests has them too. Each has a package
    // of its own beside them, which `make consumer` builds.
    .executableTarget(
      name: "KeychainClientExample", dependencies: ["Security"],
      path: "examples/keychain-client/Sources/keychain-client"),
    .executableTarget(
      name: "ThreadClientExample", dependencies: ["ThreadNetwork"],
      path: "examples/thread-client/Sources/thread-client"),

    // The figures: `make bench`. A bare subscriber and publisher, and a bare table, in C to compare with.
    .target(
      name: "CBareSubscriber", dependencies: ["CLibMosquitto", "CLibSQLite"],
      path: "Tests/Benchmarks/CBareSubscriber"),
    .target(
      name: "CBareDatabase", dependencies: ["CLibSQLite"], path: "Tests/Benchmarks/CBareDatabase"),
    .executableTarget(
      name: "threadkeeper-bench",
      dependencies: [
        "BridgeProtocol", "CBareDatabase", "CBareSubscriber", "CLibMosquitto", "CLibSodium",
        "EmbeddedBroker", "KeychainCore", "MosquittoClient", "SQLiteDatabase", "SodiumCrypto",
        "ThreadDataset",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Benchmarks", exclude: ["CBareDatabase", "CBareSubscriber", "Peers"]),

    // Threads at work on the keychain: `make stress`. It depends on little, because all of that is
    // built once more for the sanitizer.
    .executableTarget(
      name: "keychain-stress", dependencies: ["KeychainCore", "Security", "SodiumCrypto"],
      path: "Tests/Stress"),

    // What `make fuzz` and a test of its seeds check for any bytes.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "BoundedJSON", "Bridge", "BridgeProtocol", "LocalRequests", "SealedEnvelope",
        "Security", "ServiceDiscovery", "Settings", "SodiumCrypto", "ThreadDataset",
        "ThreadRequests", "VarlinkSocket",
      ],
      path: "Tests/Fuzz/Targets"),
    .testTarget(name: "FuzzTargetsTests", dependencies: ["FuzzTargets", "TestKit"]),

    // Tests: a target for each target, and what they share.
    .target(name: "CTestSandbox", path: "Tests/CTestSandbox"),
    .target(
      name: "TestKit",
      dependencies: [
        "Bridge", "BridgeProtocol", "CTestSandbox", "EmbeddedBroker", "KeychainCore",
        "MosquittoClient",
        "SQLiteDatabase", "SystemThreads", "ThreadDataset",
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/TestKit"),
    // Looks for services, and publishes some, as a process of its own: where D-Bus is, libdbus reads once in a process.
    .executableTarget(
      name: "service-probe", dependencies: ["CLibAvahi", "ServiceDiscovery", "ThreadDataset"],
      path: "Tests/ServiceProbe"),
    .testTarget(
      name: "ThreadDatasetTests", dependencies: ["TestKit", "ThreadDataset"],
      resources: [.copy("Vectors")]),
    .testTarget(name: "BoundedJSONTests", dependencies: ["BoundedJSON", "TestKit"]),
    .testTarget(name: "SystemThreadsTests", dependencies: ["SystemThreads"]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal"]),
    .testTarget(name: "SodiumCryptoTests", dependencies: ["SodiumCrypto", "TestKit"]),
    .testTarget(name: "SQLiteDatabaseTests", dependencies: ["SQLiteDatabase", "TestKit"]),
    .testTarget(name: "MosquittoClientTests", dependencies: ["MosquittoClient", "TestKit"]),
    .testTarget(
      name: "VarlinkSocketTests", dependencies: ["SystemThreads", "TestKit", "VarlinkSocket"]),
    .testTarget(
      name: "LocalRequestsTests",
      dependencies: ["LocalRequests", "ThreadRequests", "VarlinkSocket"]),
    .testTarget(
      name: "ServiceDiscoveryTests",
      dependencies: ["ServiceDiscovery", "TestKit", "ThreadDataset", "service-probe"]),
    .testTarget(name: "BrokerAccessTests", dependencies: ["BridgeProtocol", "BrokerAccess"]),
    .testTarget(
      name: "EmbeddedBrokerTests", dependencies: ["EmbeddedBroker", "SystemThreads", "TestKit"]),
    .testTarget(name: "YAMLReaderTests", dependencies: ["YAMLReader"]),
    .testTarget(name: "LogFormatTests", dependencies: ["LogFormat"]),
    .testTarget(
      name: "KeychainCoreTests", dependencies: ["KeychainCore", "SodiumCrypto", "TestKit"]),
    .testTarget(
      name: "KeychainServicesTests",
      dependencies: ["KeychainCore", "KeychainServices", "SodiumCrypto", "TestKit"]),
    .testTarget(
      name: "BridgeProtocolTests", dependencies: ["BridgeProtocol", "TestKit", "ThreadDataset"]),
    .testTarget(
      name: "BrokerProbeTests",
      dependencies: [
        "BridgeProtocol", "BrokerProbe", "EmbeddedBroker", "MosquittoClient", "TestKit",
      ]),
    .testTarget(
      name: "ThreadRequestsTests", dependencies: ["TestKit", "ThreadDataset", "ThreadRequests"]),
    .testTarget(
      name: "CredentialServiceTests",
      dependencies: [
        "ConsentLedger", "CredentialService", "KeychainCore", "SQLiteDatabase", "TestKit",
        "ThreadCredentialStore", "ThreadDataset", "ThreadRequests",
      ]),
    .testTarget(
      name: "SecurityTests",
      dependencies: [
        "FuzzTargets", "KeychainCore", "KeychainServices", "LocalAuthentication",
        "SQLiteDatabase", "Security", "SodiumCrypto", "TestKit",
      ]),
    .testTarget(
      name: "ThreadNetworkTests",
      dependencies: [
        "KeychainCore", "LocalRequests", "SQLiteDatabase", "TestKit", "ThreadCredentialStore",
        "ThreadDataset", "ThreadNetwork", "ThreadRequests", "VarlinkSocket",
      ]),
    .testTarget(
      name: "ThreadCredentialStoreTests",
      dependencies: [
        "KeychainCore", "SQLiteDatabase", "TestKit", "ThreadCredentialStore", "ThreadDataset",
      ]),
    .testTarget(
      name: "BrokerLoginStoreTests",
      dependencies: ["BrokerLoginStore", "KeychainCore", "SodiumCrypto", "TestKit"]),
    .testTarget(
      name: "SealedEnvelopeTests", dependencies: ["SealedEnvelope", "SodiumCrypto", "TestKit"]),
    .testTarget(
      name: "ClientEnrolmentTests",
      dependencies: [
        "ClientEnrolment", "KeychainCore", "SQLiteDatabase", "SealedEnvelope", "SodiumCrypto",
        "TestKit",
      ]),
    .testTarget(
      name: "ConsentLedgerTests",
      dependencies: [
        "ConsentLedger", "KeychainCore", "Terminal", "TestKit", "ThreadDataset",
        "ThreadRequests",
      ]),
    .testTarget(
      name: "BridgeTests",
      dependencies: [
        "Bridge", "BridgeProtocol", "BrokerAccess", "ClientEnrolment", "ConsentLedger",
        "CredentialService", "KeychainCore", "MosquittoClient", "SQLiteDatabase",
        "SealedEnvelope", "ServiceDiscovery", "TestKit", "ThreadCredentialStore", "ThreadDataset",
        "ThreadRequests",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SettingsTests", dependencies: ["Settings", "TestKit", "YAMLReader"]),
    .testTarget(
      name: "StatusPageTests",
      dependencies: [
        "StatusPage", "TestKit", .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .target(
      name: "DaemonTestKit",
      dependencies: [
        "ClientEnrolment", "ConsentLedger", "KeychainCore", "SQLiteDatabase", "SealedEnvelope",
        "Settings", "SodiumCrypto", "TestKit", "ThreadDataset",
      ],
      path: "Tests/DaemonTestKit"),
    .testTarget(
      name: "ThreadkeeperDaemonTests",
      dependencies: ["DaemonTestKit", "TestKit", "ThreadkeeperDaemon", "VarlinkSocket"]),
    .testTarget(
      name: "BorderRouterAgentTests",
      dependencies: [
        "BorderRouterAgent", "BridgeProtocol", "MosquittoClient", "SealedEnvelope", "SystemThreads",
        "TestKit", "ThreadDataset",
      ], resources: [.copy("Recorded")]),
    .testTarget(
      name: "ThreadkeeperCLITests",
      dependencies: [
        "DaemonTestKit", "TestKit", "ThreadkeeperCLI", "ThreadkeeperDaemon", "threadkeeper",
      ]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "BoundedJSON", "Bridge", "BridgeProtocol", "BrokerAccess", "ConsentLedger",
        "EmbeddedBroker",
        "KeychainClientExample", "KeychainCore", "LocalRequests", "MosquittoClient",
        "SQLiteDatabase", "SealedEnvelope", "Settings", "TestKit", "ThreadClientExample",
        "ThreadDataset", "ThreadNetwork", "ThreadRequests", "ThreadkeeperDaemon", "VarlinkSocket",
        "YAMLReader", "service-probe", "threadkeeper",
      ]),
  ] + fuzzProgram,
  swiftLanguageModes: [.v6]
)
