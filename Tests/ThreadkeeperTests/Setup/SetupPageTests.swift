import Settings
import Testing

@testable import Threadkeeper

@Suite("Who reaches the page after setup") struct SetupPageTests {
  private func http(_ change: (inout Settings.HTTP) -> Void = { _ in }) -> Settings.HTTP {
    var http = Settings.HTTP()
    change(&http)
    return http
  }

  @Test("An answer that is there changes nothing", arguments: PageReach.allCases) func unchanged(_ reach: PageReach) {
    var before = http { $0.names = ["proxy"] }
    before.isEnabled = reach != .no
    if reach == .home { before.address = "192.0.2.7" }
    #expect(PageReach(before) == reach)
    var after = before
    reach.apply(to: &after, host: "pi")
    #expect(after == before)
  }

  @Test("Opened, it is on all addresses, under this machine's names; closed, on loopback") func opened() {
    var page = http { $0.names = ["pi", "proxy"] }
    PageReach.home.apply(to: &page, host: "pi")
    #expect(page.address == "0.0.0.0" && page.names == ["pi", "proxy", "pi.local"])
    PageReach.yes.apply(to: &page, host: "pi")
    #expect(PageReach(page) == .yes && page.address == "127.0.0.1")
    var off = http { $0.isEnabled = false }
    PageReach.home.apply(to: &off, host: nil)
    #expect(off.isEnabled && off.names == [])
  }

  @Test("A name that no client could use is left out", arguments: ["a b", "-x", "x/y"]) func unfit(_ host: String) {
    var page = http()
    PageReach.home.apply(to: &page, host: host)
    #expect(page.names == [])
  }

  @Test("The link is also drawn where that can be, and has the address for what does not know the name") func link() {
    let page = http {
      $0.address = "192.0.2.7"
      $0.names = ["pi.local"]
    }
    var link = PageLink(page, token: "sesame")
    #expect(link.link == "http://pi.local:8423/?token=sesame")
    #expect(link.byAddress == "http://192.0.2.7:8423/?token=sesame")
    var drawn: [String] = []
    let text = link.text {
      drawn.append($0)
      return "[code]\n"
    }
    #expect(drawn == [link.link])
    #expect(text.contains(link.link) && text.contains(link.byAddress) && text.hasSuffix("\n\n[code]\n"))
    #expect(link.text { _ in nil }.contains("qrencode"))
    #expect(text.contains("once the daemon runs, `threadkeeper page code`"))
    link.code = "1234 5678"
    let typed = "open http://pi.local:8423/ and type the code 1234 5678 within 10 minutes."
    #expect(link.text { _ in nil }.contains(typed))
  }

  @Test(
    "What a person types is known, and nothing else",
    arguments: [("yes", .yes), ("Y", .yes), ("home", .home), ("n", .no), ("NO", .no), ("maybe", nil), ("", nil)]
      as [(String, PageReach?)]) func answers(_ text: String, _ reach: PageReach?)
  { #expect(PageReach(answer: text) == reach) }
}
