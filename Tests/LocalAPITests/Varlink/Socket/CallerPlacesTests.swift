import TestKit
import Testing

@testable import LocalAPI

@Suite("The places of a socket's callers") struct CallerPlacesTests {
  private var places = CallerPlaces(total: 6, perUser: 3)

  /// Connections of a user that get a place and take none away.
  private mutating func fill(_ user: UInt32, _ count: Int, answering: Bool = false) throws -> [Int] {
    try (0..<count).map { _ in
      guard case .admitted(let place, nil) = places.admit(user) else { throw Full() }
      if answering { #expect(sendRequest(place)) }
      return place
    }
  }

  private struct Full: Error {}

  /// - Returns: false when the place was taken away.
  private mutating func sendRequest(_ place: Int) -> Bool { places.endSilence(at: place) }

  private mutating func isRefused(_ user: UInt32) -> Bool { places.admit(user) == .refused }

  /// Which place a user's connection takes away; nil where it takes none.
  private mutating func evicted(by user: UInt32) throws -> Int? {
    guard case .admitted(_, let evicted) = places.admit(user) else { throw Full() }
    return evicted
  }

  @Test("A connection gets a place while the user and all together have fewer than they may") mutating func free()
    throws
  { #expect(try Set(fill(1, 3) + fill(2, 3)).count == 6) }

  @Test("A user at its share loses its oldest silent connection to its newcomer") mutating func ownSilent() throws {
    let own = try fill(1, 3)
    #expect(sendRequest(own[0]))
    #expect(try evicted(by: 1) == own[1])
    #expect(!places.holds(own[1]))
    #expect(places.holds(own[0]) && places.holds(own[2]))
  }

  @Test("A user at its share is refused while all its requests are being answered") mutating func ownAnswering() throws
  {
    let own = try fill(1, 3, answering: true)
    #expect(isRefused(1))
    places.free(own[1])
    #expect(try evicted(by: 1) == nil)
  }

  @Test("A connection whose request was answered is silent again, and as old as before") mutating func answered() throws
  {
    let own = try fill(1, 3, answering: true)
    places.beginSilence(at: own[2])
    places.beginSilence(at: own[1])
    #expect(try evicted(by: 1) == own[1])
    // The newcomer is silent, too, but younger.
    #expect(try evicted(by: 1) == own[2])
    places.beginSilence(at: own[1])
    #expect(!places.holds(own[1]))
  }

  @Test("A user at its share takes nothing from other users") mutating func shareOfOthers() throws {
    _ = try fill(1, 3, answering: true)
    _ = try fill(2, 2)
    #expect(isRefused(1))
  }

  @Test("When all are taken, the oldest silent connection of the user with the most makes room")
  mutating func mostPlaces() throws {
    _ = try fill(1, 2)
    let most = try fill(2, 3)
    _ = try fill(3, 1)
    #expect(sendRequest(most[0]))
    #expect(try evicted(by: 4) == most[1])
  }

  @Test("When the user with the most has no silent connection, the user with the next most makes room")
  mutating func nextMost() throws {
    let next = try fill(1, 2)
    _ = try fill(2, 3, answering: true)
    _ = try fill(3, 1)
    #expect(try evicted(by: 4) == next[0])
  }

  @Test("A user without a place takes one even from a request that is being answered") mutating func answeringOfOthers()
    throws
  {
    let first = try fill(1, 3, answering: true)
    _ = try fill(2, 3, answering: true)
    guard case .admitted(let own, first[0]) = places.admit(3) else { throw Full() }
    #expect(!sendRequest(first[0]), "its answer is not to be made")
    #expect(sendRequest(own))
    #expect(isRefused(3), "a second place is no right")
  }

  @Test("A user with places takes silent connections of those who have more, and of itself") mutating func secondPlace()
    throws
  {
    let more = try fill(1, 3)
    let less = try fill(2, 2)
    let own = try fill(3, 1)
    #expect(try evicted(by: 3) == more[0])
    // Now each has two.
    #expect(try evicted(by: 3) == own[0])
    #expect(less.allSatisfy { places.holds($0) })
  }

  @Test("Nobody loses their last place to another user") mutating func lastPlace() throws {
    let last = try (1...6).flatMap { try fill($0, 1) }
    #expect(isRefused(7))
    #expect(try evicted(by: 1) == last[0], "to itself it does")
  }

  @Test("A place that was taken away is freed once only") mutating func freedTwice() throws {
    let own = try fill(1, 3)
    #expect(try evicted(by: 1) == own[0])
    places.free(own[0])
    #expect(try evicted(by: 1) == own[1], "the user is at its share still")
  }

  @Test("Whatever other users do, a user without a place gets one while fewer users than places have some")
  func anyOrder() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<(Soak.triesAll ? 200 : 40) {
      var places = CallerPlaces(total: 12, perUser: 4)
      var open: [Int] = []
      for _ in 0..<200 {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: if let place = open.randomElement(using: &generator) { places.free(place) }
        case 1: if let place = open.randomElement(using: &generator) { _ = places.endSilence(at: place) }
        default:
          if case .admitted(let place, _) = places.admit(.random(in: 1...11, using: &generator)) { open.append(place) }
        }
        open.removeAll { !places.holds($0) }
        #expect(open.count <= 12)
        var copy = places
        let isRefused = copy.admit(12) == .refused
        #expect(!isRefused)
      }
    }
  }

  @Test(
    "Their number follows from the limit of open files",
    arguments: [(0, 16), (64, 16), (256, 16), (512, 32), (1_024, 64), (UInt.max, 64)]) func number(
      descriptors: UInt, expected: Int
    )
  { #expect(CallerPlaces.total(descriptors: descriptors) == expected) }

  @Test(
    "The daemon's own user has 32 at most, and streams leave more than half of them for calls",
    arguments: [(64, 16, 7), (512, 32, 15), (1_024, 32, 15)]) func owner(descriptors: UInt, places: Int, streams: Int)
  {
    let limits = VarlinkLimits.owner(descriptors: descriptors)
    #expect(limits.places == places && limits.placesPerUser == places)
    #expect(limits.streamsPerUser == streams)
  }
}
