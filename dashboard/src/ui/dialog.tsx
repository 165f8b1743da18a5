/** A window over the page: the browser's own, which keeps the focus inside and closes with Esc. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useAction } from "../polled.ts";
import { Problem } from "./problem.tsx";

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren; isWide?: boolean };

export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; keys have Esc
    <dialog
      ref={dialog}
      class={isWide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-inside">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  /** What will happen, with the numbers. */
  children: ComponentChildren;
  /** What the button says: a verb. */
  verb: string;
  isDanger?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks before something that cannot be undone; what goes wrong is shown in it. */
export function Confirm({ title, children, verb, isDanger = false, act, onClose }: ConfirmProps) {
  const doing = useAction(async () => {
    await act();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Problem error={doing.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Leave it
        </button>
        <button
          type="button"
          class={isDanger ? "danger" : "primary"}
          disabled={doing.isBusy}
          onClick={() => doing.run()}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
