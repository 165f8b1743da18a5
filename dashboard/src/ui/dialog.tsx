/** A modal dialog: the browser's own element, which traps the focus and closes with Esc. */
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
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click on the backdrop closes it; the keyboard has Esc
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
  /** The effect of the action, with numbers. */
  children: ComponentChildren;
  /** The label of the confirm button: a verb. */
  verb: string;
  isDanger?: boolean;
  /** The label of the other button. */
  cancel?: string;
  act: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks for confirmation. If `act` fails, the dialog stays open and shows the error. */
export function Confirm({ title, children, verb, isDanger = false, cancel = "Cancel", act, onClose }: ConfirmProps) {
  const action = useAction(async () => {
    await act();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Problem error={action.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          {cancel}
        </button>
        <button
          type="button"
          class={isDanger ? "danger" : "primary"}
          disabled={action.isBusy}
          onClick={() => action.run()}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
