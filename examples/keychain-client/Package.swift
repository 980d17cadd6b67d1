// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "keychain-client", platforms: [.macOS(.v13)],
  dependencies: [
    // In a package of your own, write the address that you got threadkeeper from instead:
    //   .package(url: "https://…/threadkeeper.git", branch: "main", traits: []),
    // Without traits no other package is fetched: the libraries need none.
    .package(name: "threadkeeper", path: "../..", traits: [])
  ],
  targets: [
    .executableTarget(
      name: "keychain-client",
      dependencies: [
        // Apple's systems have this module themselves.
        .product(name: "Security", package: "threadkeeper", condition: .when(platforms: [.linux]))
      ])
  ])
