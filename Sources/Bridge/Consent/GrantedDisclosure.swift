// SPDX-License-Identifier: Apache-2.0

import ConsentLedger

/// Credentials that an "always" gives to a request.
struct GrantedDisclosure {
  let request: ConsentRequest
  let grant: ConsentID
}
