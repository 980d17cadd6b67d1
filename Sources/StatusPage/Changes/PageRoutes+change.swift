// SPDX-License-Identifier: Apache-2.0

extension PageRoutes {
  private struct Outcome: Encodable {
    var message: String
    var remedy: String?
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
        return outcome(
          .forbidden,
          "The page is \(request.origin ?? "of an unknown origin"), and the host \(request.host ?? "").",
          "A proxy before the daemon has to pass on the header `Host`.")
      }
      if access.isTrusted(request) {
        return outcome(
          .forbidden, "Changes through the proxy are off.",
          "Set `http.trusted_proxy_changes: true`, in the add-on `page_changes`, and restart.")
      }
      return outcome(
        .forbidden, "Changes need the token.",
        "Run `threadkeeper page token`, restart the daemon, and open the link.")
    }
    // What a form of another page can send is no JSON.
    guard request.contentType == "application/json" else {
      return outcome(.badRequest, "A change is JSON.", nil)
    }
    guard let change = PageChange(path: request.path, body: request.body) else {
      return outcome(.badRequest, "The request does not say what is to be changed.", nil)
    }
    do {
      defer { readNow() }
      return outcome(.ok, try await source.make(change), nil)
    } catch let refusal as PageRefusal {
      return outcome(.conflict, refusal.message, refusal.remedy)
    } catch {
      return outcome(.failed, "An unexpected failure.", nil)
    }
  }

  private func outcome(
    _ status: PageReply.Status, _ message: String, _ remedy: String?
  ) -> PageReply {
    .json(status, Outcome(message: message, remedy: remedy))
  }
}
