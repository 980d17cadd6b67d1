// SPDX-License-Identifier: Apache-2.0

import Broker

/// A publication about a device of Home Assistant that was acknowledged, or refused.
enum HomeAssistantAnswer: Hashable, Sendable {
  /// A device that is announced.
  case device(topic: String)
  /// One that is gone, or announced elsewhere: the topic was to be emptied.
  case removal(topic: String)
}

/// That the broker refuses devices of Home Assistant. One value for all of them, however many routers there are.
package struct RefusedDevices: Sendable, Equatable {
  /// Publications that were refused on this connection. After the first ones no more are tried.
  package var count: Int
  /// The topic of the last.
  package var topic: String
  /// The broker's answer.
  package var problem: String
  /// What a person can do.
  package var remedy: String

  /// Whether the topic was to be emptied.
  let isRemoval: Bool

  init(_ answer: HomeAssistantAnswer, _ error: MosquittoError, count: Int) {
    self.count = count
    problem = error.message
    switch answer {
    case .device(let topic):
      self.topic = topic
      isRemoval = false
      remedy =
        error.reason == .notAuthorized
        ? "Generate the broker's access list again with `threadkeeper acl` and the options that you used "
          + "before, and restart the broker; or set `home_assistant.discovery: off`, and restart threadkeeper."
        : "Check the broker's log for the reason; or set `home_assistant.discovery: off`, and restart "
          + "threadkeeper."
    case .removal(let topic):
      self.topic = topic
      isRemoval = true
      remedy =
        "A device that is gone stays in Home Assistant. Allow threadkeeper's login to write there and restart "
        + "it, or empty the topic with another login: `mosquitto_pub -r -n -t TOPIC`."
    }
  }
}
