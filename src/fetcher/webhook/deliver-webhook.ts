import { TargetError } from '../../jobs/target-error.ts'
import type { DeliverWebhook } from '../../jobs/webhook-message.ts'
import type { Network } from '../network/network.ts'

/** Sends webhooks through the network that targets are fetched from, and so through its guard. */
export function createDeliverWebhook({ notify }: Pick<Network, 'notify'>): DeliverWebhook {
  return async ({ url, ...message }, signal) => {
    try {
      return { status: await notify(url, message, signal) }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof TargetError) return { failure: error.toFailure() }
      throw error
    }
  }
}
