// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import ThreadNetwork

@Suite("Consent where no daemon runs", .timeLimit(.minutes(30)))
struct ConsentTests {
  private let place: OwnPlace

  init() async throws {
    place = try OwnPlace()
    try await place.client().storeCredentials(
      forBorderAgent: Agents.kitchen, activeOperationalDataSet: SampleNetwork.home.bytes())
  }

  @Test("A person who agrees has them told, and was asked about this network, once for each call")
  func agreed() async throws {
    let questions = Mutex<[String]>([])
    let client = place.client(team: "other") { question in
      questions.withLock { $0.append(question) }
      return true
    }
    let dataset = try SampleNetwork.home.bytes()
    let id = Data(hex: SampleNetwork.home.extendedPANID)
    #expect(try await client.preferredCredentials().activeOperationalDataSet == dataset)
    #expect(
      try await client.credentials(forExtendedPANID: id).activeOperationalDataSet == dataset)
    let asked = questions.withLock { $0 }
    #expect(asked.count == 2)
    for question in asked {
      #expect(question.contains(#""home" (1111111122222222)"#))
      #expect(!question.contains(SampleNetwork.home.networkKey))
    }
  }

  @Test("A person who refuses, and nobody to ask, are code 15, and tell nothing")
  func refused() async throws {
    for (answer, code) in [(false, "consent_denied"), (nil, "consent_required")]
      as [(Bool?, String)]
    {
      let client = place.client(team: "other") { _ in answer }
      let id = Data(hex: SampleNetwork.home.extendedPANID)
      for call: () async throws -> Void in [
        { _ = try await client.preferredCredentials() },
        { _ = try await client.credentials(forExtendedPANID: id) },
      ] {
        let error = await failure(call)
        #expect(error?.code == 15)
        #expect(error?.domain == "THErrorDomain")
        #expect(error?.answerCode == code)
      }
    }
    let nobody = await failure { _ = try await place.client().preferredCredentials() }
    #expect(nobody?.localizedDescription.contains("threadkeeper consent") == true)
  }

  @Test("What becomes another network while the person thinks is not told")
  func changed() async throws {
    let client = place.client(team: "other") { [place] _ in
      let done = DispatchSemaphore(value: 0)
      let guest = try? SampleNetwork.guest.bytes()
      place.client().storeCredentials(
        forBorderAgent: Agents.kitchen, activeOperationalDataSet: guest ?? Data()
      ) { _ in done.signal() }
      done.wait()
      return true
    }
    #expect(await failure { _ = try await client.preferredCredentials() }?.code == 15)
  }

  @Test("Whether there is a preferred network, and whether a dataset is of it, asks nobody")
  func unasked() async throws {
    let client = place.client(team: "other") { _ in
      Issue.record("somebody is asked")
      return true
    }
    #expect(await client.isPreferredAvailable())
    #expect(await client.isPreferred(forActiveOperationalDataset: try SampleNetwork.home.bytes()))
    #expect(try await client.allCredentials().isEmpty)
  }

  @Test("A call whose task is cancelled ends while the person still thinks")
  func cancelled() async throws {
    let isAsked = Mutex(false)
    let isOver = DispatchSemaphore(value: 0)
    let client = place.client(team: "other") { _ in
      isAsked.withLock { $0 = true }
      _ = isOver.wait(timeout: .now() + 240)
      return true
    }
    let call = Task { try await client.preferredCredentials() }
    try await eventually("the question") { isAsked.withLock { $0 } }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    isOver.signal()
  }
}
