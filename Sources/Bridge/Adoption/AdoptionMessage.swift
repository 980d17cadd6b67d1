// SPDX-License-Identifier: Apache-2.0

import Broker

/// The message of an adoption, sealed, for the current connection.
struct AdoptionMessage: Sendable {
  /// The adoption's.
  let id: String
  let connection: Int64
  let publication: Publication
  let expires: WireTime
}
