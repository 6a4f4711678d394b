import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usableCores } from '../../../src/telemetry/cores.js'

const readFrom =
  (files: Readonly<Record<string, string>>) =>
  (path: string): string | undefined =>
    files[path]

const SECOND = { '/proc/self/cgroup': '0::/kubepods/pod7\n' }
const FIRST = {
  '/proc/self/cgroup': '11:memory:/docker/a\n4:cpu,cpuacct:/docker/a\n1:name=systemd:/docker/a\n',
}

test('without a quota the usable cores are those that the process may run on', () => {
  for (const files of [
    {},
    SECOND,
    { ...SECOND, '/sys/fs/cgroup/cpu.max': 'max 100000\n' },
    {
      ...FIRST,
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
  ])
    assert.equal(usableCores(readFrom(files), 8), 8)
})

test('a quota of CPU time lowers them, in both versions of control groups, also one around the own group', () => {
  const own = { ...SECOND, '/sys/fs/cgroup/kubepods/pod7/cpu.max': '250000 100000\n' }
  assert.equal(usableCores(readFrom(own), 8), 2.5)
  assert.equal(usableCores(readFrom(own), 2), 2)
  const around = { ...own, '/sys/fs/cgroup/kubepods/cpu.max': '150000 100000\n' }
  assert.equal(usableCores(readFrom(around), 8), 1.5)
  // In a container the own group is often seen as the root.
  assert.equal(usableCores(readFrom({ ...SECOND, '/sys/fs/cgroup/cpu.max': '400000 100000' }), 8), 4)
  const first = {
    ...FIRST,
    '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us': '300000\n',
    '/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us': '100000\n',
  }
  assert.equal(usableCores(readFrom(first), 8), 3)
})
