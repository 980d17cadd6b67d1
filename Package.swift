// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The floors, lowest first; an import goes down only. See docs/architecture.md.
let package = Package(
  name: "threadkeeper",
  products: [
    .library(name: "ThreadDataset", targets: ["ThreadDataset"])
  ],
  dependencies: [],
  targets: [
    // Floor 0: system libraries, and what is pure.
    .target(name: "ThreadDataset"),

    // Tests: a target for each target, and what they share.
    .testTarget(
      name: "ThreadDatasetTests", dependencies: ["ThreadDataset"],
      resources: [.copy("Vectors")]),
  ],
  swiftLanguageModes: [.v6]
)
