import StatusPage
import Testing

struct MetricsTextTests {
  @Test("A metric has its help, its kind and a line for each set of labels") func lines() {
    let text = MetricsText.encode([
      Metric(.gauge, "threadkeeper_a", "What.", 1.5),
      Metric(.counter, "threadkeeper_b_total", "How many.", [.init(3, [("home", "a"), ("code", "b")]), .init(4)]),
    ])
    #expect(
      text == """
        # HELP threadkeeper_a What.
        # TYPE threadkeeper_a gauge
        threadkeeper_a 1.5
        # HELP threadkeeper_b_total How many.
        # TYPE threadkeeper_b_total counter
        threadkeeper_b_total{home="a",code="b"} 3
        threadkeeper_b_total 4

        """)
  }

  @Test("A value that somebody chose stays inside its quotes, on its line") func escaping() {
    let value = "\"} 1\nthreadkeeper_evil 1\\"
    let text = MetricsText.encode([Metric(.gauge, "threadkeeper_a", "Two\nlines\\.", [.init(1, [("name", value)])])])
    #expect(
      text == #"""
        # HELP threadkeeper_a Two\nlines\\.
        # TYPE threadkeeper_a gauge
        threadkeeper_a{name="\"} 1\nthreadkeeper_evil 1\\"} 1

        """#)
  }

  @Test("The buckets of a histogram count what is below them too, and the last counts all") func histogram() {
    let text = MetricsText.encode([
      Metric(histogram: "threadkeeper_s", "Time.", [.init(bounds: [0.5, 1], counts: [2, 0, 3], sum: 12.25)]),
      Metric(histogram: "threadkeeper_c", "Calls.", [.init([("method", "a")], bounds: [1], counts: [0, 1], sum: 2)]),
    ])
    #expect(
      text == """
        # HELP threadkeeper_s Time.
        # TYPE threadkeeper_s histogram
        threadkeeper_s_bucket{le="0.5"} 2
        threadkeeper_s_bucket{le="1"} 2
        threadkeeper_s_bucket{le="+Inf"} 5
        threadkeeper_s_sum 12.25
        threadkeeper_s_count 5
        # HELP threadkeeper_c Calls.
        # TYPE threadkeeper_c histogram
        threadkeeper_c_bucket{method="a",le="1"} 0
        threadkeeper_c_bucket{method="a",le="+Inf"} 1
        threadkeeper_c_sum{method="a"} 2
        threadkeeper_c_count{method="a"} 1

        """)
  }

  @Test("A metric without a sample is left out") func empty() {
    #expect(MetricsText.encode([Metric(.counter, "a_total", "A.", [])]) == "")
  }

  @Test("The metrics need the token where there is one, and are made once for all who ask together") func route() async
  {
    let source = FixedSource()
    let routes = PageRoutes(PageConfiguration(port: 1, token: sampleToken), source: source)
    #expect(await routes.reply(to: PageRequest("/metrics")).status == .unauthorized)
    #expect(source.asked.withLock { $0 } == 0)
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask { await routes.reply(to: PageRequest("/metrics", authorization: "Bearer \(sampleToken)")) }
      }
      for await reply in group {
        #expect(reply.status == .ok)
        #expect(reply.values("Content-Type") == [MetricsText.contentType])
        #expect(reply.text.hasSuffix("threadkeeper_test 1\n"))
      }
    }
    // On a busy machine they may take longer than a second.
    #expect(source.asked.withLock { $0 } < 10)
  }
}
