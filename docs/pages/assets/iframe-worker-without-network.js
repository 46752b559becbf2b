// The search runs in a worker, and browsers start none for a page that was opened from disk.
// There, a hidden frame runs the worker's script instead, with messages passed in both directions.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.frame = frame;
      this.inside.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
      };
      this.inside.importScripts = (...scripts) =>
        scripts.reduce((before, script) => before.then(() => this.load(script)), Promise.resolve());
      this.loaded = this.load(address);
    }

    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        script.src = address;
        script.onload = resolve;
        script.onerror = reject;
        this.inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      await this.loaded;
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
