// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore

extension PageRequest {
  init(_ request: Request, body: [UInt8], peer: String?) {
    let head = request.head
    self.init(
      head.path ?? "", method: head.method.rawValue, host: head.authority,
      origin: head.headerFields[.origin], authorization: head.headerFields[.authorization],
      cookie: head.headerFields[.cookie],
      contentType: head.headerFields[.contentType], body: body, peer: peer)
  }
}

extension HTTPResponse {
  init(_ reply: PageReply) {
    var fields = HTTPFields()
    var headers = SecurityHeaders.beside(reply.headers) + [("Connection", "close")]
    // Without it, the answer comes in chunks.
    if reply.viewer == nil { headers.append(("Content-Length", "\(reply.body.count)")) }
    for (name, value) in headers {
      guard let name = HTTPField.Name(name) else { continue }
      fields[name] = value
    }
    self.init(status: .init(code: reply.status.rawValue), headerFields: fields)
  }
}
