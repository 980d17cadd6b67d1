import Foundation
import TestKit
import Testing
import ThreadNetwork

@Suite("Code that was written for a phone", .timeLimit(.minutes(30))) struct PhoneAppTests {
  private let place: OwnPlace

  init() throws { place = try OwnPlace() }

  @Test("saves, lists and deletes, with a client that it lets go in the completion") func life() async throws {
    let app = PhoneCredentials { [place] in place.client { _ in true } }
    let home = try SampleNetwork.home.dataset(at: 1).hex
    let guest = try SampleNetwork.guest.dataset(at: 1).hex
    for (address, dataset) in [("0000000000000001", home), ("0000000000000002", guest)] {
      let error: (any Error)? = await withCheckedContinuation { done in
        app.saveRow(macExtendedAddress: address, operationalDataSet: dataset) { done.resume(returning: $0) }
      }
      #expect(error == nil)
      #expect(app.client == nil)
    }
    let rows = try await app.rows()
    #expect(rows.map(\.borderAgentID) == ["0000000000000001", "0000000000000002"])
    #expect(rows.map(\.networkName) == ["home", "guest-thread"])
    #expect(rows.map(\.activeOperationalDataSet) == [home, guest])
    #expect(rows.first?.panID == "1234")
    #expect(app.client == nil)

    let results = await [deletion(app), deletion(app)]
    #expect(results.map { $0?.code } == [nil, THError.Code.notFound.rawValue])
    // The preferred network stays, without a border router.
    #expect(try await app.rows().map(\.borderAgentID) == ["0000000000000002", "Unknown"])
  }

  private func deletion(_ app: PhoneCredentials) async -> NSError? {
    await withCheckedContinuation { done in
      app.deleteRow(macExtendedAddress: "0000000000000001") { done.resume(returning: $0 as NSError?) }
    }
  }

  @Test("A screen says what it may not know") @MainActor func screen() async throws {
    let screen = CredentialScreen()
    await screen.load(place.client { _ in true })
    #expect(screen.message == "No preferred network")
    try await place.client().store()
    await screen.load(place.client(team: "other") { _ in false })
    #expect(screen.message == "Not allowed")
    await screen.load(place.client(team: "other") { _ in true })
    #expect(screen.names == ["home"])
  }
}
