// SPDX-License-Identifier: Apache-2.0

// A service group asks each service for its description, and all that a struct holds is in that: to put it together
// takes a fifth of the daemon's start.

extension ClientSocket: CustomStringConvertible {
  package var description: String { "ClientSocket" }
}

extension LocalAPISocket: CustomStringConvertible {
  package var description: String { "LocalAPISocket" }
}

extension PrivateBroker: CustomStringConvertible {
  var description: String { "PrivateBroker" }
}

extension StoreVerification: CustomStringConvertible {
  var description: String { "StoreVerification" }
}
