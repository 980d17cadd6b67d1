import Bridge
import Glibc
import Home
import LocalAPI
import Logging
import ServiceLifecycle
import Settings
import ThreadRequests

/// The daemon's second socket: programs of other users bring requests there, and can bring nothing else. There is none
/// unless the settings name it.
struct ClientSocket: Service {
  let settings: Settings
  let bridge: Bridge
  /// How long a method took.
  var finished: @Sendable (_ method: String, Duration) -> Void = { _, _ in }
  let logger: Logger

  private var admission: ClientAdmission {
    ClientAdmission(
      team: { [settings] in settings.team(ofUID: $0) },
      refused: { [requests = bridge.requests] in requests.countRefusal() })
  }

  /// What is not for other users is answered as if it were not there.
  private func service(_ admission: ClientAdmission) -> VarlinkService {
    let handlers = RequestHandler.all(settings, bridge: bridge, admission: admission)
    return VarlinkService(
      LocalAPISocket.information, interfaces: [.threadkeeper] + handlers.map(\.interface),
      endpoints: handlers.flatMap(\.endpoints), gate: { admission.refusal(ofCallBy: $0.peer.user, isFirst: $1) },
      failure: { VarlinkError(failing: $0) }, finished: finished)
  }

  func run() async throws {
    guard let path = settings.clientSocket else {
      try? await gracefulShutdown()
      return
    }
    await SocketLife(failure: "programs of other users cannot reach this daemon", logger: logger).run {
      () throws(SocketError) -> VarlinkServer in try listen(path)
    }
  }

  private func listen(_ path: String) throws(SocketError) -> VarlinkServer {
    let admission = self.admission
    var limits = VarlinkLimits()
    limits.noPlace = .tooManyConnections
    return try VarlinkServer(
      path: path, reach: .everybody, limits: limits, service: service(admission),
      judge: { [logger] in
        logger.debug("a connection of a program", metadata: ["user": "\($0.user)"])
        return admission.judge($0.user)
      }, onTrouble: { [logger] in logger.warning("a program was not let in", metadata: ["reason": "\($0.message)"]) })
  }
}

/// Who is served on the daemon's second socket, and how often: as often as a user of the broker.
///
/// The daemon's own user and root ask as often as they like. They have the other socket too, and whoever
/// may stop the daemon gains nothing by asking it too much.
struct ClientAdmission {
  /// For whom a user speaks.
  let team: @Sendable (UInt32) -> String?
  var owner: UInt32 = geteuid()
  var clock: any Clock = SystemClock()
  /// Called for each that is refused.
  var refused: @Sendable () -> Void = {}
  private let limiter = RequestLimiter()

  init(team: @escaping @Sendable (UInt32) -> String?, refused: @escaping @Sendable () -> Void = {}) {
    self.team = team
    self.refused = refused
  }

  /// Before anything is read of what is asked.
  func judge(_ user: UInt32) -> VarlinkVerdict {
    switch verdict(on: user, price: 1) {
    // Over MQTT a flood is answered now and then only. Here an answer costs less than a program that cannot tell
    // a flood from a daemon that ended.
    case .ignored, .refused: refuse(.tooManyRequests)
    case .allowed: team(user) == nil ? refuse(Self.untrusted) : .admitted(isExempt(user) ? .owner : .team)
    }
  }

  /// Why a call is not looked at. The first one of a connection is paid with the connection.
  func refusal(ofCallBy user: UInt32, isFirst: Bool) -> VarlinkError? {
    guard !isFirst, verdict(on: user, price: 1) != .allowed else { return nil }
    refused()
    return VarlinkError(AnswerFailure.tooManyRequests.forCommand)
  }

  /// Why a request is not fulfilled that costs more than the call. Nil for one that is.
  ///
  /// - Parameter items: how many it may look at: what a list costs depends on it.
  func refusal(of command: RequestCommand, by user: UInt32, items: () -> Int = { 0 }) -> AnswerFailure? {
    let price = RequestLimiter.price(of: command.rawValue) - 1
    let work = RequestLimiter.work(of: command.rawValue, items)
    guard price + work > 0, verdict(on: user, price: price, work: work) != .allowed else { return nil }
    refused()
    return .tooManyRequests
  }

  private func isExempt(_ user: UInt32) -> Bool { user == owner || user == 0 }

  private func verdict(on user: UInt32, price: Int, work: Int = 0) -> RequestLimiter.Verdict {
    guard !isExempt(user) else { return .allowed }
    return limiter.judge(ExactName("\(user)"), price: price, work: work, at: clock.now())
  }

  private func refuse(_ failure: AnswerFailure) -> VarlinkVerdict {
    refused()
    return .refused(VarlinkError(failure.forCommand))
  }

  private static let untrusted = AnswerFailure(
    .notAuthorized, "this user is no client of the daemon", help: "have it named in the daemon's `client_users`")
}
