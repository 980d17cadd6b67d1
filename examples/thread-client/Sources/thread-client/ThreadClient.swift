// SPDX-License-Identifier: Apache-2.0

import ThreadNetwork

@main
struct ThreadClient {
  static func main() {}
}
