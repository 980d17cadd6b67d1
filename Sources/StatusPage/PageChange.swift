/// What a person changes on the page.
package enum PageChange: Sendable, Equatable {
  /// Routers are on the network on purpose, or not any more.
  case acceptNetwork(home: String, network: String, accepted: Bool)
  case acceptRouter(home: String, router: String)
  /// Sends an alert that says it is a test.
  case testAlert(home: String)
  /// Alerts have arrived.
  case confirmAlerts(home: String)
  /// Takes it off the list, with its credentials.
  case forgetRouter(home: String, router: String)
  /// Gets a network's credentials by the code that a border router shows.
  case join(code: String, router: String?, anyway: Bool)
  case readRouter(router: String)
  /// - name: empty: as it calls itself.
  case renameRouter(home: String, router: String, name: String)
  case prefer(home: String, network: String)
  /// Decides a dispute about the keys of the preferred network: the current ones stay. Not where others are preferred
  /// since then.
  case keepKeys(home: String, since: String)
  /// Lets no network be the preferred one. Not where it is another one by now.
  case forgetPreferred(home: String, network: String)
  /// Shows a code by which others get the credentials of a network.
  case share(home: String, network: String)
  /// Makes a recovery code and shows it. It opens nothing yet.
  case makeRecoveryCode
  /// Has the code open the store that was shown last, by its third group: so somebody has written it down.
  case confirmRecoveryCode(group: String)
  case approve(id: String, always: Bool)
  case deny(id: String)
  /// Has a person asked again whether a router gets the preferred credentials.
  case askAgain(home: String, router: String)
}

/// What the page shows of a change that is made.
package struct PageOutcome: Encodable, Sendable, Equatable, ExpressibleByStringInterpolation {
  package var message: String
  /// Shown this once: neither the state nor a log has it.
  package var code: String?
  /// After which the code goes from the page.
  package var seconds: Int?
  /// Where the code counts only when a part of it was typed.
  package var confirmation: Confirmation?

  package struct Confirmation: Encodable, Sendable, Equatable {
    /// Of the field.
    package var label: String
    /// Where it is sent, as `code`.
    package var path: String

    package static let recoveryCode = Confirmation(label: "Its third group", path: "/keys/confirm")
  }

  package init(_ message: String) { self.message = message }

  package init(_ message: String, code: String, for seconds: Int, confirmation: Confirmation? = nil) {
    (self.message, self.code, self.seconds, self.confirmation) = (message, code, seconds, confirmation)
  }

  package init(stringLiteral message: String) { self.init(message) }
}

/// Why a change is not made, in words for a person.
package struct PageRefusal: Error, Sendable {
  package var message: String
  package var remedy: String?
  /// How it can be made all the same: each is a button.
  package var choices: [Choice]?

  package init(_ message: String, remedy: String? = nil, choices: [Choice]? = nil) {
    (self.message, self.remedy, self.choices) = (message, remedy, choices)
  }

  package struct Choice: Encodable, Sendable, Equatable {
    package var label: String
    /// What the request has then, beside what it had.
    package var with: Fields

    package init(_ label: String, anyway: Bool? = nil, router: String? = nil) {
      (self.label, with) = (label, Fields(anyway: anyway, borderAgentId: router))
    }

    package struct Fields: Encodable, Sendable, Equatable {
      var anyway: Bool?
      var borderAgentId: String?
    }
  }
}

extension PageRoutes {
  struct Refusal: Encodable {
    var message: String
    var remedy: String?
    var choices: [PageRefusal.Choice]?
  }

  /// A change needs the token, also from this machine, or has to come through the trusted proxy where that may change
  /// something.
  func change(_ request: PageRequest) async -> PageReply {
    guard request.method == "POST" else {
      var reply = PageReply.text(.notAllowed, "this is a change, which is posted")
      reply.headers.append(("Allow", "POST"))
      return reply
    }
    guard access.mayChange(request) else {
      guard !access.offersChanges(to: request) else {
        return refusal(
          .forbidden, "The page is \(request.origin ?? "of an unknown origin"), and the host \(request.host ?? "").",
          "A proxy before the daemon has to pass on the header `Host`.")
      }
      if access.isTrusted(request) {
        return refusal(
          .forbidden, "Changes through the proxy are off.",
          "Set `http.trusted_proxy_changes: true`, in the add-on `page_changes`, and restart.")
      }
      return refusal(.forbidden, "Changes need the token.", "Run `threadkeeper page token`, and open the link.")
    }
    // What a form of another page can send is no JSON.
    guard request.contentType == "application/json" else { return refusal(.badRequest, "A change is JSON.", nil) }
    guard let change = PageChange(path: request.path, body: request.body) else {
      return refusal(.badRequest, "The request does not say what is to be changed.", nil)
    }
    do {
      defer { readNow() }
      return PageReply.json(.ok, try await source.make(change))
    } catch let why as PageRefusal { return refusal(.conflict, why.message, why.remedy, why.choices) } catch {
      return refusal(.failed, "An unexpected failure.", nil)
    }
  }

  private func refusal(
    _ status: PageReply.Status, _ message: String, _ remedy: String?, _ choices: [PageRefusal.Choice]? = nil
  ) -> PageReply { .json(status, Refusal(message: message, remedy: remedy, choices: choices)) }
}
