import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadRequests

extension Rejection {
  static let retained = Rejection(
    .retained,
    message: "retained messages are ignored, since they would act again at every start; "
      + "publish it without the retain flag and clear the topic")

  static let tooManyEvents = Rejection(
    .rateLimited,
    message: "this login publishes too many events (setting `limits.events_per_second`); "
      + "slow down, and publish again what is still true")

  static let noKeys = Rejection(
    .unsupported, field: "sealed",
    message: "the daemon has no keys of its own: they are damaged, or the store is read-only")

  static let needsSequence = Rejection(
    .missingField, field: "seq", message: "a sealed event needs a `seq` in its envelope, because it has no end")

  static let damagedEnrolment = Rejection(
    .damagedEnrolment, field: "sealed",
    message: "the enrolment of this user is damaged; `threadkeeper clients enroll` replaces it")

  /// A message that has ended the process.
  static func ended(_ times: UInt8) -> Rejection {
    Rejection(
      .cannotApply,
      message: "the daemon cannot act upon this message: the daemon has ended \(times) times while " + "it applied it")
  }

  /// - Parameter home: named where there are several.
  init(_ rejection: HomeRejection, home: String?) {
    self =
      switch rejection {
      case .notAuthorized(let agent): .init(.ofAnotherTeam(agent), to: nil, home: home)
      case .mayNotReportSSID:
        .init(
          .notAuthorized,
          message: "this border router belongs to another team: only that team, and logins that the "
            + "setting `ssid.reporters` names, report its SSID")
      case .sightingsNotSealed:
        .init(
          .notSealed,
          message: "border routers that a login sees count only sealed: enrol it with `threadkeeper clients enroll`, "
            + "and give its agent the daemon's line with `--daemon`")
      case .mayNotReportSightings:
        .init(
          .notAuthorized,
          message: "this login's team has border routers, and reports these only: give the program that sees others "
            + "a login of its own, which is enrolled")
      case .unknownRouter:
        .init(
          .notFound, field: "border_agent_id",
          message: "this border router has not announced itself; publish `announce` first")
      case .unknownAccessPoint:
        .init(
          .notFound, field: "access_point",
          message: "no border router that this login may report has announced this `access_point`; "
            + "name the router's `border_agent_id` instead")
      case .tooManyBehindAccessPoint(let most):
        .init(
          .tooManyRouters, field: "access_point",
          message: "more than \(most) border routers of one team have announced this "
            + "`access_point`; name each router's `border_agent_id` instead")
      case .outOfOrder:
        .init(
          .outOfOrder, field: "seq",
          message: "a later event of this router or network was acted upon already; `seq` must rise")
      case .envelopeOutOfOrder:
        .init(
          .outOfOrder, field: "seq",
          message: "a later envelope of this user for this router or network was opened already; " + "`seq` must rise")
      case .tooManyRouters(let most): .init(inOneSentence: .tooManyRouters(most))
      case .homeIsFull(let most): .init(inOneSentence: .homeIsFull(most))
      case .tooManyShared(let most):
        .init(
          .tooManyNetworks, field: "dataset",
          message: "the logins of this home have shared the credentials of \(most) networks already; "
            + "`threadkeeper networks forget` deletes those of one")
      case .tooManyNetworks(let most):
        .init(
          .tooManyNetworks, field: "dataset",
          message: "this user has shared the credentials of \(most) networks already; "
            + "`threadkeeper networks forget` deletes those of one")
      case .notSealed:
        .init(
          .notSealed,
          message: "this user is enrolled with the trust `signed`: its events have to be sealed; "
            + "`threadkeeper client seal` does it")
      case .notEnrolled: .clientNotEnrolled
      }
  }

  private init(inOneSentence refusal: HomeRefusal) {
    self.init(refusal, to: nil)
    message += help.map { "; \($0)" } ?? ""
    help = nil
  }
}
