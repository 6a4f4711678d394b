import type { StreamConfig, StreamInfo } from '@nats-io/jetstream'
import { OperatorError } from '../../errors/operatorError.js'

export type StreamSettings = Partial<StreamConfig> & Pick<StreamConfig, 'name' | 'subjects'>

/**
 * @param wanted the settings that matter. Others are the servers' business, and newer servers tell of more.
 * @throws OperatorError, one line, that names each setting that differs.
 */
export function assertSettings(wanted: Partial<StreamConfig>, { config }: StreamInfo): void {
  const actual = config as Partial<StreamConfig>
  const others = (Object.keys(wanted) as (keyof StreamConfig)[])
    .filter((key) => JSON.stringify(actual[key]) !== JSON.stringify(wanted[key]))
    .map((key) => `${key} ${JSON.stringify(actual[key])} instead of ${JSON.stringify(wanted[key])}`)
  if (others.length > 0)
    throw new OperatorError(
      `the NATS stream ${config.name} is there with other settings: ${others.join(', ')}`,
    )
}
