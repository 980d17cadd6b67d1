// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a probe calls itself.
enum ProbeName {
  /// Begins like the daemon's own client ids, for brokers that ask for a beginning (`clientid_prefixes`), and is never
  /// one of them: whoever connects with the id of another client throws that one out.
  ///
  /// - Parameter beginning: `mqtt.client_id` of the settings, or `threadkeeper`.
  static func clientID(beginning: String) -> String {
    "\(beginning)-probe-\(getpid())-\(UInt32.random(in: 0 ... .max))"
  }
}
