// SPDX-License-Identifier: Apache-2.0

extension NetworkKey {
  /// Whether the key is printed in public documentation, so that it keeps nobody out.
  ///
  /// The list has the keys of well-known guides and of public test data, and the trivial ones. It
  /// can't be complete: `false` does not say that a key is good.
  public var isWellKnown: Bool { Self.wellKnown.contains(self) }

  private static let wellKnown = Set(
    [
      // Trivial.
      "00000000000000000000000000000000",
      "ffffffffffffffffffffffffffffffff",
      // Guides of OpenThread, of chip makers and of Home Assistant.
      "00112233445566778899aabbccddeeff",
      // Guides of OpenThread's command line, of its simulation, of its service registry.
      "dfd34f0f05cad978ec4e32b0413038ff",
      "7fcbae4153cc2955c28440c15d4d4219",
      // Test data of OpenThread, of its border router, of Android and of Matter.
      "eaf9149fdc7378770698d59180221958",
      "f26b3153760f519a63bafddffc80d2af",
      "ba088fc2bd6c3b3897f7a10f58263ff3",
      "ed916e454d96fd00184f10a6f5c9e1d3",
      "f366cec7a446bab978d90d27abe38f23",
    ].compactMap { NetworkKey(hex: $0) })
}
