// SPDX-License-Identifier: Apache-2.0

import BrokerAccess

/// Whether the broker keeps what waits for the daemon. A client learns nothing of it, so the broker's own file has to be
/// read, where it is on this machine.
enum QueueCheck {
  private static let least = 10_000
  private static let lines =
    "`persistence true`, `max_queued_messages 1000000` and `max_queued_bytes 67108864`"

  /// - Parameter options: of the broker, where it is on this machine and can be read.
  static func findings(_ options: MosquittoOptions?) -> [Finding] {
    let queue = Check(.broker, "queue")
    let persistence = Check(.broker, "persistence")
    guard let options else {
      return [
        queue.notChecked(
          "How many messages wait for the daemon while it is away, and whether they outlive a restart of the "
            + "broker: no client can see it", "Look into mosquitto.conf for \(lines)")
      ]
    }
    var findings: [Finding] = []
    if options.isPersistent {
      findings.append(
        persistence.ok("Sessions and what waits in them outlive a restart of the broker"))
    } else {
      findings.append(
        persistence.warning(
          "A restart of the broker forgets what waits for the daemon",
          "Set `persistence true` in mosquitto.conf, and restart it"))
    }
    // 0 is no limit.
    let most = options.queueLimit
    if most == 0 || most >= least {
      findings.append(queue.ok("Up to \(most == 0 ? "any number of" : "\(most)") messages wait"))
    } else {
      findings.append(
        queue.warning(
          "Only \(most) messages wait for the daemon while it is away; the broker drops the rest",
          "Set `max_queued_messages 1000000` and `max_queued_bytes 67108864` in mosquitto.conf, and restart it"
        ))
    }
    return findings
  }

  /// - Parameter passesLarge: nil where each client has a limit of its own.
  static func large(_ passesLarge: Bool?) -> [Finding] {
    let check = Check(.broker, "message_size")
    guard let passesLarge else { return [] }
    return passesLarge
      ? [
        check.warning(
          "The broker passes on messages of more than a megabyte, and with MQTT 3.1.1 no client can refuse them: "
            + "one of 200 MB can end the daemon",
          "Set `mqtt.protocol: 5`, or `message_size_limit 1048576` in mosquitto.conf, and restart the broker"
        )
      ]
      : [check.ok("No message of more than a megabyte reaches a client")]
  }

  /// - Parameter values: `$SYS/broker/…`.
  static func dropped(_ values: [String: String]) -> [Finding] {
    let check = Check(.broker, "dropped")
    guard !values.isEmpty else {
      return [
        check.notChecked(
          "Whether the broker drops messages: the daemon's login reads nothing below `$SYS/broker/`",
          "Add `topic read $SYS/broker/#` for it, as `threadkeeper acl` does")
      ]
    }
    guard let count = values["$SYS/broker/publish/messages/dropped"].flatMap({ Int($0) }) else {
      return []
    }
    return count == 0
      ? [check.ok("The broker has dropped no message since its start")]
      : [
        check.note(
          "The broker has dropped \(count) messages since its start, of this or another client",
          "Set \(lines) in mosquitto.conf")
      ]
  }
}
