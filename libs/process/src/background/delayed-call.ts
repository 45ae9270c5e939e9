interface DelayedCall {
  /** Makes one call after `delayMs`, however often it is scheduled until then. */
  schedule(): void;
  cancel(): void;
}

interface DelayOptions {
  readonly delayMs: number;
  /** Whether each `schedule` begins the delay again. */
  readonly isDebounced: boolean;
}

/** Creates a delayed call. It can be scheduled again after it was made. */
export function createDelayedCall(call: () => void, { delayMs, isDebounced }: DelayOptions): DelayedCall {
  let timer: NodeJS.Timeout | undefined;
  return {
    schedule() {
      if (timer && !isDebounced) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        call();
      }, delayMs);
    },
    cancel: () => clearTimeout(timer),
  };
}
