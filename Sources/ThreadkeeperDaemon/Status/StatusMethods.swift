// SPDX-License-Identifier: Apache-2.0

import VarlinkSocket

/// The methods of `io.threadkeeper.Status`: the report of `threadkeeper status`, made by the daemon itself.
package enum StatusMethods {
  package struct Reply: Codable, Sendable {
    package let status: StatusReport
  }

  /// The process, and with which files its store is opened, for commands that name no place.
  package struct Places: Codable, Sendable {
    package let pid: Int32
    package let keyFile: String
  }

  package static let get = VarlinkMethod<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Get", for: .reader)
  package static let places = VarlinkMethod<VarlinkNothing, Places>(
    VarlinkInterface.status.name, "Places", for: .owner)
  package static let watch = VarlinkStream<VarlinkNothing, Reply>(
    VarlinkInterface.status.name, "Watch", for: .reader)
}
