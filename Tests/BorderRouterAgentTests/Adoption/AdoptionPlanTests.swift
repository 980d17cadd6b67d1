import TestKit
import Testing
import ThreadDataset

import enum Home.ThreadState

@testable import BorderRouterAgent

@Suite("How a router is given a dataset") struct AdoptionPlanTests {
  private func pending(_ plan: AdoptionPlan) throws -> OperationalDataset {
    var pending: OperationalDataset?
    if case .pending(let dataset) = plan { pending = dataset }
    return try #require(pending, "\(plan)")
  }

  private func refusal(_ plan: AdoptionPlan) -> String? { if case .refused(let why) = plan { why } else { nil } }

  @Test("A router that uses the dataset is left alone, whatever the timestamps") func nothing() throws {
    #expect(try AdoptionPlan(SampleNetwork.home.dataset(at: 9), for: Sample.report()) == .nothing)
  }

  @Test("Another network is adopted alone: nobody on the present one may get the key") func otherNetwork() throws {
    for state in ThreadState.allCases {
      #expect(try AdoptionPlan(SampleNetwork.home.dataset(at: 9), for: Sample.report(state, on: .guest)) == .alone)
    }
  }

  @Test("Other keys of the same Extended PAN ID are adopted alone: the neighbours don't have them") func otherKeys()
    throws
  {
    for network in [
      SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey },
      SampleNetwork.home.with { $0.pskc = SampleNetwork.guest.networkKey },
    ] { #expect(try AdoptionPlan(network.dataset(at: 9), for: Sample.report()) == .alone) }
  }

  @Test("A newer dataset of its own network is pending: complete, later, with timestamp and delay") func pending()
    throws
  {
    let target = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 9)
    let dataset = try pending(AdoptionPlan(target, for: Sample.report()))
    #expect(dataset.kind == .pending)
    #expect(dataset.essentialDifferences(from: target) == [])
    #expect(dataset.activeTimestamp?.seconds == 9 && dataset.pendingTimestamp?.seconds == 9)
    #expect(try #require(dataset.delayTimer) >= 30_000)
  }

  @Test("A pending change that is there already is overtaken, unless it brings other keys") func overtakes() throws {
    let target = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 9)
    var report = try Sample.report()
    let timestamp = try #require(Timestamp(seconds: 50))
    report.pending = try target.replacing(.pendingTimestamp(timestamp), .delayTimer(100))
    #expect(try pending(AdoptionPlan(target, for: report)).pendingTimestamp?.seconds == 51)
    // One to other keys is not.
    let other = SampleNetwork.home.with { $0.networkKey = SampleNetwork.guest.networkKey }
    report.pending = try other.dataset(at: 9).replacing(.pendingTimestamp(timestamp), .delayTimer(100))
    #expect(refusal(AdoptionPlan(target, for: report)) != nil)
  }

  @Test("While a change to another dataset is pending nothing is done; one to the same is none") func pendingChange()
    throws
  {
    let target = try SampleNetwork.home.dataset(at: 9)
    let timestamp = try #require(Timestamp(seconds: 50))
    func pending(_ network: SampleNetwork) throws -> OperationalDataset {
      try network.dataset(at: 9).replacing(.pendingTimestamp(timestamp), .delayTimer(100))
    }
    for state in ThreadState.allCases {
      var report = try Sample.report(state, on: .guest)
      report.pending = try pending(.guest)
      #expect(refusal(AdoptionPlan(target, for: report))?.contains("pending") == true, "\(state)")
      report.pending = try pending(.home)
      #expect(AdoptionPlan(target, for: report) == .alone)
      report.pending = nil
      report.hasUnreadablePending = true
      // What cannot be read counts as another one.
      #expect(refusal(AdoptionPlan(target, for: report)) != nil)
    }
  }

  @Test("Not newer, stopped, detached, or on another network than configured: alone") func alone() throws {
    let target = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 1)
    #expect(try AdoptionPlan(target, for: Sample.report()) == .alone)
    let newer = try SampleNetwork.home.with { $0.channel = 20 }.dataset(at: 2)
    #expect(try AdoptionPlan(newer, for: Sample.report(.disabled)) == .alone)
    #expect(try AdoptionPlan(newer, for: Sample.report(.detached)) == .alone)
    var elsewhere = try Sample.report()
    elsewhere.network = ExtendedPANID(hex: SampleNetwork.guest.extendedPANID)
    #expect(AdoptionPlan(newer, for: elsewhere) == .alone)
    #expect(try AdoptionPlan(newer, for: Sample.report(dataset: .unusable("partial"))) == .alone)
  }
}
