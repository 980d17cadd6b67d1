// SPDX-License-Identifier: Apache-2.0

extension MosquittoConfiguration: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Where the broker is and as whom; never the password.
  package var description: String {
    let user = username.map { "\($0)@" } ?? ""
    return "\(tls == nil ? "mqtt" : "mqtts")://\(user)\(host):\(port) as \(clientID)"
  }

  package var debugDescription: String { description }

  /// For `dump` and for test output, which would otherwise walk into the password.
  package var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "address": description, "password": password == nil ? "none" : "set",
        "subscriptions": subscriptions,
      ])
  }
}
