// SPDX-License-Identifier: Apache-2.0

extension PageRoutes {
  private struct Said: Encodable {
    var message: String
    var remedy: String?
  }

  /// A change needs the token, also from this machine: without one nobody changes anything here.
  func change(_ request: PageRequest) async -> PageReply {
    guard request.method == "POST" else {
      var reply = PageReply.text(.notAllowed, "this is a change, which is posted")
      reply.headers.append(("Allow", "POST"))
      return reply
    }
    guard access.mayChange(request) else {
      return said(
        .forbidden, "Changes need the token.",
        "Run `threadkeeper page token`, start the daemon again, and open the link.")
    }
    // What a form of another page can send is no JSON.
    guard request.contentType == "application/json" else {
      return said(.badRequest, "A change is JSON.", nil)
    }
    guard let change = PageChange(path: request.path, body: request.body) else {
      return said(.badRequest, "The request does not say what is to be changed.", nil)
    }
    do {
      return said(.ok, try await source.make(change), nil)
    } catch let refusal as PageRefusal {
      return said(.conflict, refusal.message, refusal.remedy)
    } catch {
      return said(.failed, "An unexpected failure.", nil)
    }
  }

  private func said(
    _ status: PageReply.Status, _ message: String, _ remedy: String?
  ) -> PageReply {
    .json(status, Said(message: message, remedy: remedy))
  }
}
