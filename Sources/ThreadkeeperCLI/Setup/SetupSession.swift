// SPDX-License-Identifier: Apache-2.0

import BrokerAccess
import BrokerLoginStore
import Glibc
import KeychainCore
import Settings
import SodiumCrypto
import StatePlaces
import Synchronization
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The steps of `threadkeeper setup`: ask, try, look, write, store, say what is left to do.
struct SetupSession: Sendable {
  let flags: SetupFlags
  let options: SettingsOptions
  let place: SetupPlace
  let current: Settings
  let prompt: any LoginPrompt
  let isAsking: Bool
  let takesDefaults: Bool
  let isAdvanced: Bool
  let isDryRun: Bool
  let given: SecretText?
  let progress: SetupProgress

  func run() async throws -> SetupReport {
    let outcome = try await questions().run()
    let answers = outcome.answers
    var doctor: DoctorReport?
    let draft = try SetupDraft(answers, for: place, current, stateDirectory: options.stateDirectory)
    let broker = try await look(outcome, draft.settings)
    let isWritten = draft.text != place.text
    var result = SetupStore.Result()
    if !isDryRun {
      try await confirm(draft)
      if isWritten { try place.checkWriting() }
      let store = SetupStore(
        settings: draft.settings, current: current, prompt: prompt, isAsking: isAsking)
      let password = draft.settings.mqtt.password == nil ? outcome.password : nil
      try await store.waitForOtherBroker(needsPassword: password != nil)
      // First the password: settings that name a login without one would stop a daemon that runs.
      progress.note("The settings were not written; the store may be. Run it again.")
      result = try await store.fill(username: answers.username, password: password)
      if isWritten { try write(draft, result) }
      if !flags.noValidate { doctor = try await check() }
    }
    return SetupReport(
      settings: place.path, changes: draft.changes, written: isWritten && !isDryRun,
      dryRun: isDryRun, store: draft.settings.store.path, storeMade: result.madeStore,
      keyFile: draft.settings.store.keyFile, passwordStored: result.storedPassword, broker: broker,
      next: next(draft.settings, isRunning: result.isRunning), doctor: doctor)
  }

  /// What `threadkeeper doctor` finds now.
  private func check() async throws -> DoctorReport {
    var options = options
    options.config = place.path
    if isAsking { prompt.say("\nChecking all of it…\n") }
    return DoctorReport(
      try await Doctor(options: options, loaded: options.read(), other: nil) { _ in }.findings())
  }

  private func write(_ draft: SetupDraft, _ result: SetupStore.Result) throws {
    do throws(CommandFailure) {
      try place.write(draft.text)
    } catch {
      let stored = result.storedPassword ? "the password is stored; " : ""
      throw CommandFailure(
        error.status, error.message,
        remedy: stored + (error.remedy ?? "the settings are as they were; run it again"))
    }
    progress.note("The settings and the store are written.")
  }

  private func questions() -> SetupQuestions {
    let broker = SetupBroker(current: current)
    let (current, flags) = (current, flags)
    let isService = place.isService
    return SetupQuestions(
      flags: flags, current: current, isFirst: !OpenStore.exists(current), prompt: prompt,
      isAsking: isAsking, takesDefaults: takesDefaults, isAdvanced: isAdvanced, given: given,
      known: { await SetupStore.password(of: $1, at: $0, current) },
      greet: { await broker.greet($0, $1, $2) },
      unknownLogin: { broker, login in
        guard case .own(let host, let port, _) = broker,
          let house = HouseBroker(host: host, port: port, file: flags.mosquittoConfig),
          house.isComplete,
          let logins = house.logins, !logins.contains(login), let file = house.options.passwordFile
        else { return nil }
        return
          "sudo mosquitto_passwd \(file.quoted) \(login.quoted) && sudo systemctl reload mosquitto"
      },
      authorityProblem: { path in
        guard isService, access(path, R_OK) == 0, !StoreOwner.canServiceRead(path) else {
          return nil
        }
        return
          "The service cannot read \(path.printable). Copy it, and name the copy: sudo install -m 644 \(path.quoted) /etc/threadkeeper/"
      })
  }

  // MARK: The broker

  private func look(_ outcome: SetupQuestions.Outcome, _ settings: Settings) async throws
    -> SetupReport.Broker
  {
    let answers = outcome.answers
    guard case .own(let host, let port, _) = answers.broker else {
      return SetupReport.Broker(
        address: "embedded", username: nil, problem: nil, access: .complete, reasons: [], steps: [],
        accessList: nil)
    }
    let isAsked = outcome.problem == nil && !flags.noValidate
    if isAsked, isAsking { prompt.say("\nLooking at what the broker allows…\n") }
    let report =
      isAsked
      ? await SetupBroker(current: current).access(
        answers.broker, answers.username, outcome.password, settings) : nil
    try Task.checkCancellation()
    var house = HouseBroker(host: host, port: port, file: flags.mosquittoConfig)
    var findings = (house?.unreadable ?? []).map { "\($0) could not be read: run it with sudo" }
    if house == nil {
      findings.append(
        "no configuration of a Mosquitto on this machine was found for this broker: all that it needs is listed, whether"
          + " it is there or not. Run setup where the broker is, or name its file with --mosquitto-config"
      )
    }
    if let files = house, let report, files.contradicts(report) {
      findings.append(
        "the broker does otherwise than the files in \(files.directory) say: restart it, if they are its own"
      )
      house = nil
    }
    var list = AccessList(
      baseTopics: settings.homes.map(\.baseTopic), daemons: [answers.username ?? "threadkeeper"])
    list.discoveryPrefix = settings.homeAssistant.prefix
    list.deciders =
      settings.consent.approvers + [settings.homeAssistant.approver].compactMap { $0 }
    var verdict = BrokerVerdict(report, house, for: list, reader: nil)
    var reader: String?
    let isAnonymous = answers.username == nil
    if answers.homeAssistant, !isAnonymous {
      reader = try await homeAssistantLogin(house, verdict)
      verdict = BrokerVerdict(report, house, for: list, reader: reader)
    }
    list.monitors = [reader].compactMap { $0 }
    var routers = flags.router
    if !isAnonymous {
      (list.kept, routers) = try await kept(
        house, verdict, reader: reader, daemon: answers.username)
    }
    let isRefused = outcome.problem?.isRefusal == true
    do {
      let advice = try BrokerAdvice(
        .init(
          list: list, options: aclOptions, isRoot: StoreOwner.isRoot, isLoginRefused: isRefused,
          isAnonymous: isAnonymous, routers: routers),
        house, verdict)
      return SetupReport.Broker(
        address: "\(BrokerAddress(host: host, port: port, isEncrypted: false))",
        username: answers.username, problem: outcome.problem?.message, access: verdict.state,
        reasons: verdict.findings + findings, steps: advice.steps, accessList: advice.list)
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
  }

  private func homeAssistantLogin(_ house: HouseBroker?, _ verdict: BrokerVerdict) async throws
    -> String?
  {
    if let login = flags.homeAssistantLogin { return login }
    guard verdict.state != .complete else { return nil }
    guard isAsking else {
      return house?.logins?.contains("homeassistant") != false ? "homeassistant" : nil
    }
    let login = try await questions().answer(
      nil, usual: "homeassistant",
      why: "The access list has to let Home Assistant see threadkeeper. `none` to leave it out.",
      "Home Assistant's login at the broker"
    ) { _ in nil }
    return login == "none" ? nil : login
  }

  /// Logins that the list keeps: those that are named; else those that this machine's broker knows, but for routers'.
  private func kept(
    _ house: HouseBroker?, _ verdict: BrokerVerdict, reader: String?, daemon: String?
  ) async throws -> (kept: [String], routers: [String]) {
    var (kept, routers) = (flags.keep, flags.router)
    if kept.isEmpty, verdict.state != .complete {
      if let house, house.isComplete {
        kept = house.accessList == nil ? house.logins ?? [] : verdict.intruders
        kept.removeAll { $0 == daemon || routers.contains($0) }
        let others = kept.filter { $0 != reader }
        if routers.isEmpty, !others.isEmpty {
          let listed = others.map(\.printable).joined(separator: ", ")
          if isAsking {
            routers = try await names(
              (house.accessList == nil
                ? "The broker knows these logins: \(listed)."
                : "These logins can use all topics of threadkeeper: \(listed).")
                + " They keep what they do, but get none of these topics, not even their own."
                + " Which are border routers' logins, with spaces between?",
              "Logins of border routers")
            kept.removeAll { routers.contains($0) }
          } else {
            questions().warn(
              "The access list denies threadkeeper's topics to \(listed). Name border routers' logins with --router."
            )
          }
        }
      } else if isAsking {
        kept = try await names(
          "An access list rules the whole broker. Which other logins use it, such as zigbee2mqtt, with spaces between?"
            + " They keep what they do. Leave out border routers' own.", "Other logins")
      }
    }
    if let reader, !kept.contains(reader) { kept.append(reader) }
    return (kept, routers)
  }

  private func names(_ why: String, _ question: String) async throws -> [String] {
    let words = try await questions().answer(nil, usual: "none", why: why, question) { _ in nil }
    return words == "none" ? [] : words.split { $0 == " " || $0 == "," }.map(String.init)
  }

  // MARK: The rest

  private func confirm(_ draft: SetupDraft) async throws {
    guard isAsking, !draft.changes.isEmpty else { return }
    let lines = draft.changes.map { "  \($0.line)\n" }
    let isWanted = try await questions().decide(
      nil, why: "\(place.path) gets:\n" + lines.joined().dropLast(), "Write it", usual: true)
    guard isWanted else { throw CancellationError() }
  }

  private var aclOptions: [String] {
    (options.config.map { ["--config", $0.quoted] } ?? [])
      + (options.stateDirectory.map { ["--state-directory", $0.quoted] } ?? [])
  }

  private func next(_ settings: Settings, isRunning: Bool) -> [String] {
    let isService = place.isService
    let named = aclOptions.map { " \($0)" }.joined()
    let start =
      isService
      ? "sudo systemctl \(isRunning ? "restart" : "enable --now") threadkeeper"
      : isRunning ? "restart threadkeeper" : "threadkeeper run\(named)"
    let page =
      isService
      ? "sudo -u threadkeeper threadkeeper page token --state-directory \(settings.stateDirectory.quoted)"
      : "threadkeeper page token\(named)"
    return [start, "\(isService ? "sudo " : "")threadkeeper doctor\(named)"]
      + (settings.http.isEnabled ? [page] : [])
  }
}

/// How far it came, for whoever stops it.
final class SetupProgress: Sendable {
  private let state = Mutex("Nothing was written.")

  var words: String { state.withLock { $0 } }
  func note(_ words: String) { state.withLock { $0 = words } }
}
