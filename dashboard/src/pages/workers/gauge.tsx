/** A number against its limit, as a gauge with the words beside it. */
import { Tip } from "../../ui/tip.tsx";

type GaugeProps = {
  share: number | undefined;
  words: string;
  tip: string;
  label: string;
  /** Near its end something happens. */
  isLimit?: boolean;
};

/** `share` undefined: there is no limit, and so no bar. */
export function Gauge({ share, words, tip, label, isLimit = false }: GaugeProps) {
  const part = Math.max(0, Math.min(1, share ?? 0));
  const tone = isLimit && part > 0.9 ? "gauge-done is-full" : "gauge-done";
  return (
    <Tip says={tip} isQuiet class="gauge">
      <span class="gauge-words">{words}</span>
      {share !== undefined && (
        <span class="gauge-track" role="img" aria-label={`${label}: ${Math.round(part * 100)} %`}>
          <span class={tone} style={{ transform: `scaleX(${part})` }} />
        </span>
      )}
    </Tip>
  );
}
