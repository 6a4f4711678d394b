import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { pageOf } from '../support/docsPages.js'

/** An alert rule of `deploy/prometheus/alerts.yml`. */
export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

export function alertRules(): readonly AlertRule[] {
  const { groups } = parse(pageOf('deploy/prometheus/alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

/** An expression, where it stands, and the labels that the text beside it names: `{{network_id}}`. */
export interface Expression {
  readonly place: string
  readonly expr: string
  readonly namedLabels: readonly string[]
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly expr: string; readonly titleFormat: string }[]
  }
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[]
  }
}

const labelsOf = (text: string): string[] =>
  [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, name]) => name!)

export function alertExpressions(): readonly Expression[] {
  return alertRules().map(({ alert, expr, annotations }) => ({
    place: alert,
    expr,
    namedLabels: labelsOf(annotations.summary),
  }))
}

/** The expressions of the dashboard, with values in place of Grafana's variables. */
export function dashboardExpressions(): readonly Expression[] {
  const dashboard = JSON.parse(
    pageOf('deploy/grafana/dashboards/bridge-data-service.json'),
  ) as unknown as Dashboard
  const resolved = (expr: string): string =>
    expr.replaceAll('$__rate_interval', '1m').replace(/\$(instance|network_id)/g, '.*')
  return [
    ...dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        place: title,
        expr: resolved(expr),
        namedLabels: labelsOf(legendFormat),
      })),
    ),
    ...dashboard.annotations.list.map(({ name, expr, titleFormat }) => ({
      place: name,
      expr: resolved(expr),
      namedLabels: labelsOf(titleFormat),
    })),
    ...dashboard.templating.list.flatMap(({ name, definition }) => {
      const [, expr, label] = /^label_values\((.*), (\w+)\)$/.exec(definition ?? '') ?? []
      return expr === undefined ? [] : [{ place: `variable ${name}`, expr, namedLabels: [label!] }]
    }),
  ]
}

/** `{status=~"5.."}`: label, operator, value. */
export interface Matcher {
  readonly label: string
  readonly operator: string
  readonly value: string
}

/** What an expression of PromQL names. */
export interface Names {
  readonly selectors: readonly { readonly metric: string; readonly matchers: readonly Matcher[] }[]
  /** In `by (…)`, `on (…)` and the like. */
  readonly groupingLabels: readonly string[]
}

/** @throws Error where the expression is not PromQL. */
export function namesIn(expr: string): Names {
  const selectors: { metric: string; matchers: Matcher[] }[] = []
  const groupingLabels: string[] = []
  const faults: number[] = []
  parser.parse(expr).iterate({
    enter({ name, from, to, node, type }) {
      const text = expr.slice(from, to)
      if (type.isError) faults.push(from)
      else if (name === 'VectorSelector') selectors.push({ metric: '', matchers: [] })
      else if (name === 'Identifier') selectors.at(-1)!.metric = text
      else if (name === 'UnquotedLabelMatcher') {
        const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((part) => {
          const child = node.getChild(part)!
          return expr.slice(child.from, child.to)
        })
        selectors.at(-1)!.matchers.push({
          label: label!,
          operator: operator!,
          value: JSON.parse(value!) as string,
        })
      } else if (name === 'LabelName' && node.parent!.name === 'GroupingLabels') groupingLabels.push(text)
    },
  })
  if (faults.length > 0) throw new Error(`not PromQL at ${faults[0]}: ${expr}`)
  return { selectors, groupingLabels }
}
