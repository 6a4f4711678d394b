import { aggkitDialect } from './aggkit/aggkit.js'
import type { AggkitRelease } from './aggkit/release.js'
import type { Dialect, DialectForm } from './frame/dialect.js'
import { hubDialect } from './hub/hub.js'
import { proofDialect } from './proof/proof.js'
import { zkevmDialect } from './zkevm/zkevm.js'

/** Every dialect, in every release line that differs on the wire. */
export const dialects: {
  readonly aggkit: { readonly [R in AggkitRelease]: Dialect }
  readonly hub: { readonly latest: Dialect }
  readonly proof: { readonly latest: Dialect }
  readonly zkevm: { readonly latest: Dialect }
} = {
  aggkit: {
    latest: aggkitDialect('latest'),
    rc6: aggkitDialect('rc6'),
    rc5: aggkitDialect('rc5'),
    '0.6': aggkitDialect('0.6'),
  },
  hub: { latest: hubDialect },
  proof: { latest: proofDialect },
  zkevm: { latest: zkevmDialect },
}

const all: readonly Dialect[] = Object.values(dialects).flatMap((releases) =>
  Object.values<Dialect>(releases),
)

/** The forms of all endpoints. A query takes the place of its form in this list along to a query thread, which has the same list. */
export const dialectForms: readonly DialectForm<never>[] = all.flatMap(({ endpoints }) =>
  endpoints.map(({ form }) => form),
)

/** Label → what it is told by in metrics: the dialect's name and the path below its base path, wherever that is. */
export const dialectLabels: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(dialects).flatMap(([name, releases]) =>
    Object.values<Dialect>(releases).flatMap(({ endpoints, probes, redirects }) =>
      [...endpoints, ...probes, ...redirects].map(({ label, path }) => [label, `/${name}${path}`]),
    ),
  ),
)
