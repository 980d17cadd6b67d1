import Dispatch
import Glibc
import ThreadkeeperSupport

/// How to reach the broker, and how much to take from it at once.
package struct MosquittoConfiguration: Sendable {
  /// Name or address of the broker.
  package var host: String
  package var port: UInt16
  /// Path of a Unix socket of the broker, which is used in place of host and port.
  package var socket: String?
  /// The name of the session at the broker; two clients with one name take it from each other.
  package var clientID: String
  package var username: String?
  package var password: String?
  package var protocolVersion: ProtocolVersion
  /// Nil: no TLS.
  package var tls: TLS?
  /// Users of this machine that may be the broker without TLS, besides root, this process's own user and `mosquitto`:
  /// see `LocalPeer`.
  package var brokerUsers: Set<UInt32> = []
  /// Seconds of silence before a ping; 0 for none, else at least 5.
  package var keepAlive: UInt16 = 60
  /// Seconds that the broker keeps the session, with what arrives for it, while the client is
  /// away. 3.1.1 brokers know only kept and not kept: there 0 means the same as `cleanStart`.
  package var sessionExpiry: UInt32
  /// How many unacknowledged messages the broker may send (MQTT 5). A broker with a backlog can
  /// exceed it, so the batch limits below hold on their own.
  package var receiveMaximum: UInt16 = 1000
  /// How many publications may be under way; the broker's own limit is respected where lower.
  var sendMaximum: UInt16 = 100
  /// Largest packet that the broker may send (MQTT 5), in bytes; what is larger, it drops. With 3.1.1 only the broker can
  /// have a limit, and the library takes packets of 256 MB.
  package var maximumPacketSize: UInt32? = Self.packetLimit
  /// True throws an old session away. On 3.1.1 this is the clean session flag.
  package var cleanStart: Bool
  package var subscriptions: [Subscription]
  /// Filters that an earlier connection of this session subscribed to, and that are to end: what was
  /// queued for them still comes.
  package var unsubscriptions: [String] = []
  /// What the broker publishes for us when the connection dies without DISCONNECT.
  package var lastWill: Publication?
  /// Most messages handed to the handler at once: one commit, one round of acknowledgements.
  package var batchMessages = 500
  /// Most bytes of topic and payload handed over at once. The message that passes the mark is
  /// still part of the batch.
  package var batchBytes = 4 << 20
  /// Time from the TCP connection to the broker's answer to CONNECT, and from there, or from the last message if that
  /// is later, to its last answer to SUBSCRIBE. What comes later ends the connection.
  package var answerLimit = Duration.seconds(20)
  /// Time that the broker may take to acknowledge a publication, from when it was sent, or if that is later, from the
  /// last retained message, or from the last acknowledgement where they come in order. Mosquitto normally takes
  /// milliseconds; a connection on which an acknowledgement got lost would never have room for all publications again,
  /// so it is ended and they are offered again.
  var acknowledgementTimeout = Duration.seconds(30)
  /// Time that `stop` gives the publications under way, before the connection is closed anyway.
  package var stopLimit = Duration.seconds(3)
  package var reconnect: Backoff
  /// Whether this process may have the session now; nil: always. Asked before each attempt to connect, and in each turn
  /// of a connection before anything is read and before anything is sent, so also after the process was stopped for a
  /// while. Without the session nothing is sent any more, and the attempt has failed.
  package var mayConnect: (@Sendable () -> Bool)?
  /// For a process with many clients: as many of them as this has places may be between the begin of a connection and
  /// the broker's last answer to SUBSCRIBE; nil: any number. Mosquitto sends what it retains while it answers, and takes
  /// nothing else meanwhile, so hundreds that ask at once would wait for each other until they give up. A look-up
  /// and a TCP connection that take long keep their place meanwhile.
  package var places: DispatchSemaphore?

  /// For every connection: what is published and read here takes 16 KiB, and an answer a little less than this.
  package static let packetLimit: UInt32 = 65_536

  package init(
    host: String, port: UInt16 = 1883, clientID: String, username: String? = nil, password: String? = nil,
    protocolVersion: ProtocolVersion = .v5, tls: TLS? = nil, sessionExpiry: UInt32 = 0, cleanStart: Bool = false,
    subscriptions: [Subscription] = [], reconnect: Backoff = Backoff()
  ) {
    self.host = host
    self.port = port
    self.clientID = clientID
    self.username = username
    self.password = password
    self.protocolVersion = protocolVersion
    self.tls = tls
    self.sessionExpiry = sessionExpiry
    self.cleanStart = cleanStart
    self.subscriptions = subscriptions
    self.reconnect = reconnect
  }
}

extension MosquittoConfiguration {
  /// Where the broker is, for messages.
  package var address: String { socket ?? "\(HostAndPort(host, port))" }

  var isSessionHeld: Bool { mayConnect?() ?? true }

  package enum ProtocolVersion: String, Sendable, CaseIterable {
    case v5 = "5"
    case v311 = "3.1.1"
  }

  /// Paths of PEM files.
  package struct TLS: Sendable, Equatable {
    /// The authorities that may have signed the broker's certificate.
    package var caFile: String
    /// The client's own certificate, for brokers that ask for one; together with `keyFile`.
    package var certificateFile: String?
    package var keyFile: String?

    package init(caFile: String, certificateFile: String? = nil, keyFile: String? = nil) {
      self.caFile = caFile
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  package struct Subscription: Sendable, Equatable {
    package var filter: String
    package var qos: QualityOfService
    /// When the broker refuses it: true ends the connection (and tries again later), false only
    /// reports it in `MosquittoHandler.subscribed`.
    package var isRequired: Bool
    package var retained = Retained.flagged

    /// What is done about messages that are published with the retain flag. MQTT 3.1.1 knows no difference: the broker
    /// sends what it keeps with the flag, and the others without it.
    package enum Retained: Sendable, Equatable {
      /// They come with the flag, and so does what the broker keeps.
      case flagged
      /// They come like others, and what the broker keeps does not come.
      case asOrdinary
      /// For the client's own topics: what the broker keeps comes with the flag; what is published later comes without
      /// it, and not at all when it is the client's own. 3.1.1 has no such subscription: there it ends once it is
      /// granted.
      case ownOnce
      /// The same, and 3.1.1 sends what is published later, also by the client itself.
      case own
    }

    package init(_ filter: String, qos: QualityOfService = 1, isRequired: Bool = true) {
      self.filter = filter
      self.qos = qos
      self.isRequired = isRequired
    }
  }

  /// Waiting times between connections: doubling from `initial` to `ceiling`.
  package struct Backoff: Sendable, Equatable {
    package var initial: Duration
    package var ceiling: Duration
    /// Which part of each wait is left to chance, 0 to 1, so that the clients of a broker that
    /// restarts don't all come back in the same moment.
    package var jitter: Double
    /// A connection that lived this long resets the doubling.
    var stableAfter: Duration

    /// A connection that lived this long ends the contest for a session: another client that waits
    /// as this one does would have come back by then.
    package var uncontestedAfter: Duration { ceiling + ceiling / 4 }

    package init(
      initial: Duration = .seconds(1), ceiling: Duration = .seconds(60), jitter: Double = 0.5,
      stableAfter: Duration = .seconds(30)
    ) {
      self.initial = initial
      self.ceiling = ceiling
      self.jitter = jitter
      self.stableAfter = stableAfter
    }
  }
}

extension MosquittoConfiguration {
  /// Throws what can never work, with the name of the setting. libmosquitto would answer each of
  /// these with the same "invalid argument", or cut a string at its first zero byte.
  package func check() throws(MosquittoError) {
    try Self.check(host, "mqtt.host")
    try Self.check(clientID, "mqtt.client_id")
    guard !clientID.contains("+"), !clientID.contains("#") else {
      throw .invalid("mqtt.client_id", "contains `+` or `#`: Mosquitto denies everything to such a client")
    }
    if let username { try Self.check(username, "mqtt.username") }
    if let password { try Self.check(password, "mqtt.password") }
    guard port != 0 else { throw .invalid("mqtt.port", "must be between 1 and 65535") }
    guard username != nil || password == nil else {
      throw .invalid("mqtt.username", "is missing: `mqtt.password` needs it")
    }
    guard keepAlive == 0 || keepAlive >= 5 else {
      throw .invalid("mqtt", "the keep-alive must be 0 or at least 5 seconds")
    }
    guard receiveMaximum > 0, sendMaximum > 0, batchMessages > 0, batchBytes > 0 else {
      throw .invalid("mqtt", "the limits for batches and windows must be at least 1")
    }
    guard (0...1).contains(reconnect.jitter) else { throw .invalid("mqtt", "the jitter must be between 0 and 1") }
    if let tls, (tls.certificateFile == nil) != (tls.keyFile == nil) {
      throw .invalid("mqtt.tls", "`mqtt.tls.cert_file` and `mqtt.tls.key_file` only work together")
    }
    for subscription in subscriptions where !subscription.filter.isValidFilter {
      throw .invalid("mqtt.base_topic", "gives `\(subscription.filter)`, which is no topic filter")
    }
    if let lastWill {
      guard lastWill.topic.isValidTopic else {
        throw .invalid("mqtt.base_topic", "gives `\(lastWill.topic)`, which is no topic")
      }
      // The length field of a will's payload has 16 bits, and libmosquitto cuts without a word.
      guard lastWill.payload.count <= Int(UInt16.max) else {
        throw .invalid("mqtt", "a last will holds at most 65535 bytes")
      }
    }
  }

  private static func check(_ value: String, _ setting: String) throws(MosquittoError) {
    guard !value.isEmpty else { throw .invalid(setting, "is empty") }
    guard !value.utf8.contains(0) else { throw .invalid(setting, "contains a zero byte") }
    guard value.utf8.count <= Int(UInt16.max) else { throw .invalid(setting, "is too long") }
  }
}

extension String {
  /// A topic to publish to: not empty, no wildcard, no zero byte (which would end it early in C),
  /// at most 65,535 bytes (MQTT 5.0, section 4.7.3).
  var isValidTopic: Bool {
    !isEmpty && utf8.count <= Int(UInt16.max)
      && !utf8.contains { $0 == 0 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
  }

  /// As `utf8.contains(0)`, which asks byte by byte.
  var hasZeroByte: Bool {
    utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    } ?? utf8.contains(0)
  }

  /// A filter to subscribe to: wildcards stand alone in a level, `#` only in the last.
  var isValidFilter: Bool {
    guard !isEmpty, utf8.count <= Int(UInt16.max), !utf8.contains(0) else { return false }
    let levels = split(separator: "/", omittingEmptySubsequences: false)
    for (index, level) in levels.enumerated() {
      if level.contains("#"), level != "#" || index != levels.count - 1 { return false }
      if level.contains("+"), level != "+" { return false }
    }
    return true
  }
}

extension MosquittoConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Where the broker is and as whom; never the password.
  package var description: String {
    let user = username.map { "\($0)@" } ?? ""
    return "\(tls == nil ? "mqtt" : "mqtts")://\(user)\(HostAndPort(host, port)) as \(clientID)"
  }

  package var debugDescription: String { description }

  /// For `dump` and for test output, which would otherwise walk into the password.
  package var customMirror: Mirror {
    Mirror(
      self,
      children: ["address": description, "password": password == nil ? "none" : "set", "subscriptions": subscriptions])
  }
}

/// How hard the broker and the client try to deliver a message (MQTT 5.0, section 4.3).
///
/// QoS 2 is left out on purpose. For it libmosquitto answers PUBREC before any callback and keeps
/// the payload in memory until PUBREL, so a crash in between loses the message. QoS 1 together
/// with decisions that may be repeated is the stronger promise.
package enum QualityOfService: UInt8, Sendable {
  /// Fire and forget.
  case atMostOnce = 0
  /// Acknowledged, and repeated until it is.
  case atLeastOnce = 1
}

extension QualityOfService: ExpressibleByIntegerLiteral {
  /// `0`, or `1` for everything above: a receiver that grants less than was asked is normal in MQTT.
  package init(integerLiteral value: UInt8) { self = value == 0 ? .atMostOnce : .atLeastOnce }
}
