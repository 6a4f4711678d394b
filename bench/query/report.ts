import { markdownTable, type Target } from '../micro/report.js'
import type { SizeResult } from './raceSize.js'
import { SERVED } from './traffic.js'

const MOST_BYTES = 900
const LEAST_DEPOSITS = 100_000
const STEADY = 3

/** The targets of the query engine, without the entity tag, which the rival does not make. */
export function targetsOf(results: readonly SizeResult[]): Target[] {
  const [first, last] = [results[0]!, results.at(-1)!]
  const targets: Target[] = []
  for (const { question, oursUs, tagUs, rivalUs } of last.timed) {
    const { name, targetUs, targetRatio } = question
    if (targetUs !== undefined)
      targets.push({ text: `${name}, without tag`, value: oursUs - tagUs, atMost: targetUs, unit: 'µs' })
    if (targetRatio !== undefined && rivalUs !== undefined)
      targets.push({
        text: `${name}: SQLite ÷ ours without tag`,
        value: rivalUs / (oursUs - tagUs),
        atLeast: targetRatio,
      })
  }
  if (first !== last) {
    const steady = last.timed.filter(({ question }) => question.isSteady)
    const growths = steady.map(({ question, oursUs }) => ({
      name: question.name,
      growth: oursUs / first.timed.find((other) => other.question.name === question.name)!.oursUs,
    }))
    const worst = growths.reduce((a, b) => (a.growth > b.growth ? a : b))
    targets.push({
      text: `${last.bridges} ÷ ${first.bridges} bridges, time; the worst: ${worst.name}`,
      value: worst.growth,
      atMost: STEADY,
    })
  }
  targets.push(
    { text: 'bytes on disk per bridge', value: bytesPerBridge(last), atMost: MOST_BYTES, unit: 'bytes' },
    {
      text: 'bridges written per second of CPU time, senders included',
      value: last.writing.perCpuSecond,
      atLeast: LEAST_DEPOSITS,
    },
  )
  return targets
}

export function questionRows(results: readonly SizeResult[]): string[] {
  const last = results.at(-1)!
  const hasRival = last.rivalBytes !== undefined
  const head = [
    '',
    'bytes',
    ...results.map(({ bridges }) => `ours, ${bridges}`),
    'of that the tag',
    ...(hasRival ? [...results.map(({ bridges }) => `SQLite, ${bridges}`), 'SQLite ÷ ours'] : []),
  ]
  const rows = last.timed.map(({ question: { name }, oursUs, tagUs, rivalUs, bodyBytes }) => {
    const all = results.map(({ timed }) => timed.find((of) => of.question.name === name)!)
    const rivals = all.flatMap((of) => (of.rivalUs === undefined ? [] : [rivalText(of.rivalUs)]))
    const ratio = rivalUs === undefined ? [] : [(rivalUs / oursUs).toFixed(1)]
    const ours = all.map((of) => of.oursUs.toFixed(1))
    return [name, bodyBytes.toFixed(0), ...ours, tagUs.toFixed(1), ...rivals, ...ratio]
  })
  const batched = results.map(({ batchedPointUs }) => batchedPointUs.toFixed(1))
  return [
    markdownTable(head, rows),
    `One bridge by deposit count, in a batch of 32 as under load, 8,192 of them all over the store: ${batched.join(', ')} µs each.`,
    ...(hasRival ? ['The rival answers with the same JSON, without a tag and without a cursor.'] : []),
  ]
}

function rivalText(microseconds: number): string {
  return microseconds.toFixed(microseconds < 100 ? 1 : 0)
}

export function bytesRows(result: SizeResult): string[] {
  const { bridges, claims, rivalBytes } = result
  const per = (bytes: number): string => (bytes / bridges).toFixed(1)
  const sum = (of: 'tables' | 'lists'): [string, number][] => {
    const sums = new Map<string, number>()
    for (const store of result.stores.values())
      for (const [name, bytes] of store[of]) sums.set(name, (sums.get(name) ?? 0) + bytes)
    return [...sums].filter(([, bytes]) => bytes > 0).sort(([, left], [, right]) => right - left)
  }
  const files = SERVED.map((id) => `${id}: ${per(result.stores.get(id)!.file)}`).join(', ')
  const rival = rivalBytes === undefined ? '' : `; SQLite ${per(rivalBytes)}`
  return [
    `Per bridge, ${bridges} bridges and their ${claims} claims: ${per(totalBytes(result))} in all (files of the networks ${files})${rival}.`,
    markdownTable(
      ['table', 'bytes per bridge'],
      sum('tables').map(([name, bytes]) => [name, per(bytes)]),
    ),
    markdownTable(
      ['list (within the tables of lists)', 'bytes per bridge'],
      sum('lists').map(([name, bytes]) => [name, per(bytes)]),
    ),
  ]
}

function totalBytes({ stores }: SizeResult): number {
  let total = 0
  for (const { file } of stores.values()) total += file
  return total
}

function bytesPerBridge(result: SizeResult): number {
  return totalBytes(result) / result.bridges
}
