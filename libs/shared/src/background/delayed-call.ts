interface DelayedCall {
  /** Calls back in `delayMs`, once for all callers until then. */
  schedule(): void;
  cancel(): void;
}

interface DelayOptions {
  readonly delayMs: number;
  /** Makes each `schedule` begin the delay again. */
  readonly settles: boolean;
}

/** Creates a call that can be scheduled again and again. */
export function createDelayedCall(call: () => void, { delayMs, settles }: DelayOptions): DelayedCall {
  let timer: NodeJS.Timeout | undefined;
  return {
    schedule() {
      if (timer && !settles) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        call();
      }, delayMs);
    },
    cancel: () => clearTimeout(timer),
  };
}
