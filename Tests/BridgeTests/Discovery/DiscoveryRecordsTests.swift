import Broker
import ServiceDiscovery
import Testing

@testable import Bridge
@testable import Home

/// Each row of the table of `DiscoveryRecords`: the daemon's own search, and sightings of logins.
@Suite("Who has a border router: the daemon's own search, or a login that sees it") struct DiscoveryRecordsTests {
  private static let attic = Advert(name: "Attic", id: String(repeating: "a", count: 32))
  private static let day = 86_400
  private let obstacle = DiscoveryObstacle(message: "nobody answers", remedy: "Install it.")

  private var records = DiscoveryRecords()
  private var now = WireTime(milliseconds: 1_790_000_000_000)
  /// Seconds by which the wall clock was set.
  private var jump = 0

  private var moment: ClockMoment { ClockMoment(wall: now.adding(seconds: jump), steady: now.milliseconds) }

  private mutating func take(_ update: ServiceUpdate) { _ = records.take(update, at: moment.wall) }

  private mutating func report(_ adverts: Advert..., by user: ExactName = "ha") {
    _ = records.take(adverts.compactMap { BorderRouterAdvertisement($0.service) }, of: user, at: moment)
  }

  private mutating func wait(_ seconds: Int) { now = now.adding(seconds: seconds) }

  /// What is listed, and by whom; nil: nothing is written.
  private mutating func look() -> [String]? {
    let sightings = records.look(at: moment)
    return sightings.map { $0.list.map { "\($0.name ?? "-") \($0.reporter?.text ?? "own")" } }
  }

  /// Whether a router that this login or, without one, the daemon saw last has gone now, where nobody has it.
  private mutating func ends(_ reporter: ExactName? = nil) -> Bool? {
    let sightings = records.look(at: moment)
    return sightings?.ends(reporter)
  }

  @Test("Its own record counts before a login's, which adds what the daemon does not see") mutating func both() {
    take(.found(Advert().service))
    take(.listed)
    report(Advert(name: "as ha calls it", network: .guest), Self.attic)
    #expect(look() == ["Kitchen own", "Attic ha"])
    wait(180)
    #expect(look() == ["Kitchen own"], "these sightings are old")
  }

  @Test("They are one router by its id or its address") mutating func sameRouter() {
    let address = "0011223344556677"
    take(.found(Advert(address: address).service))
    report(Advert(name: "by address", id: nil, address: address), Advert(name: "by id"))
    #expect(look() == ["Kitchen own"])
  }

  @Test("Of several logins the first by name counts, while it reports") mutating func severalLogins() {
    report(Self.attic, by: "b")
    report(Self.attic, Advert(), by: "a")
    #expect(look() == ["Attic a", "Kitchen a"])
    wait(179)
    report(Self.attic, by: "b")
    #expect(look() == ["Attic a", "Kitchen a"])
    wait(1)
    #expect(look() == ["Attic b"])
    #expect(ends("a") == false && ends("b") == true)
    report(by: "a")
    #expect(ends("a") == true)
  }

  @Test("What the daemon has lost is there again by a login after 75 minutes, or when that has seen it go and come")
  mutating func lost() {
    take(.found(Advert().service))
    take(.listed)
    report(Advert())
    take(.lost(name: "Kitchen"))
    #expect(look() == [])
    #expect(ends() == true)
    wait(4_499)
    report(Advert())
    #expect(look() == [])
    wait(1)
    #expect(look() == ["Kitchen ha"])
    take(.found(Advert().service))
    take(.lost(name: "Kitchen"))
    #expect(look() == [])
    report()
    #expect(look() == [])
    report(Advert())
    #expect(look() == ["Kitchen ha"])
    // The daemon's own search knows nothing any more.
    take(.found(Advert().service))
    take(.lost(name: "Kitchen"))
    take(.unavailable(obstacle))
    #expect(look() == ["Kitchen ha"])
  }

  @Test("While its own search begins, or is not possible for three minutes, what it had stays as it was")
  mutating func search() {
    report()
    #expect(ends() == false, "it has begun")
    take(.listed)
    #expect(ends() == true)
    take(.unavailable(obstacle))
    wait(170)
    report()
    take(.unavailable(obstacle))
    #expect(ends() == false)
    wait(10)
    #expect(ends() == true)
    take(.listed)
    #expect(ends() == true)
    take(.unavailable(obstacle))
    #expect(ends() == false)
  }

  @Test("What only a silent login saw stays for a day; after a start so long for logins that have not reported")
  mutating func silentLogin() {
    take(.listed)
    #expect(ends("ha") == false, "it has not reported since the start")
    report(Self.attic)
    #expect(ends("ha") == true && ends("other") == false)
    wait(Self.day)
    #expect(look() == [])
    #expect(ends("ha") == true && ends("other") == true)
    report(Self.attic)
    wait(180)
    #expect(ends("ha") == false && ends("other") == true)
    wait(Self.day - 181)
    #expect(ends("ha") == false)
    wait(1)
    #expect(ends("ha") == true)
  }

  @Test("Where nobody looks and nobody reports, nothing is written") mutating func nobody() {
    #expect(look() == nil)
    take(.unavailable(obstacle))
    #expect(look() == nil)
    report(Self.attic)
    #expect(look() == ["Attic ha"] && !records.isSilent(at: moment))
    wait(180)
    #expect(look() == nil && records.isSilent(at: moment))
  }

  @Test("Sightings of a login that may not report them are dropped, and it is not waited for") mutating func forged() {
    take(.listed)
    report(Advert(), by: "forger")
    report(Self.attic)
    let sightings = records.look(at: moment) { $0 != "forger" }
    #expect(sightings?.list.map(\.name) == ["Attic"] && sightings?.reporters == ["ha"])
    #expect(look() == ["Attic ha"])
  }

  @Test("A wall clock that is set makes no sightings old or new", arguments: [-31_536_000, 31_536_000])
  mutating func clock(_ seconds: Int) {
    take(.listed)
    report(Self.attic)
    #expect(look() == ["Attic ha"])
    jump = seconds
    #expect(look() == ["Attic ha"] && ends("other") == false)
    wait(180)
    #expect(look() == [] && ends("ha") == false)
  }
}
