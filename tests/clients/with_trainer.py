"""Hugging Face Trainer: checkpoint-<n>/ with save_total_limit, resumed in a new process, its best checkpoint."""

import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import yaml

from client import after_remount, fresh, main, test, view
from tuning import tuning

EVERY = 4  # steps


def config(run):
    return run / "config.yaml"


def write_config(run):
    run.mkdir(parents=True)
    config(run).write_text("learning_rate: 0.01\nhidden_size: 16\nlayers: 2\nseed: 1\n")


def data(n, first):
    """Sentences of 16 tokens, of 32 from the first."""
    import torch
    tokens = torch.randint(first, first + 32, (n, 16), generator=torch.Generator().manual_seed(1))
    return [{"input_ids": row, "labels": row} for row in tokens]


def train(run, last, resume):
    """The steps from which and to which it trained. The more it learns of some tokens the worse it does on the others,
    so that the first checkpoint is the best."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed  # takes seconds
    hp = yaml.safe_load(config(run).read_text())
    arguments = TrainingArguments(
        run, max_steps=last, learning_rate=hp["learning_rate"], seed=hp["seed"], per_device_train_batch_size=8,
        lr_scheduler_type="constant", eval_strategy="steps", eval_steps=EVERY, save_steps=EVERY, save_total_limit=2,
        load_best_model_at_end=True, metric_for_best_model="eval_loss", logging_steps=EVERY, report_to="none",
        use_cpu=True, disable_tqdm=True)
    set_seed(hp["seed"])
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=64, n_positions=16, n_embd=hp["hidden_size"], n_layer=hp["layers"], n_head=2,
        tie_word_embeddings=False, bos_token_id=None, eos_token_id=None))
    trainer = Trainer(model, arguments, train_dataset=data(64, 0), eval_dataset=data(16, 32))
    first = []
    step = trainer.training_step

    def training_step(*arguments, **options):
        first.append(trainer.state.global_step)
        return step(*arguments, **options)
    trainer.training_step = training_step
    trainer.train(resume_from_checkpoint=resume)
    return first[0], trainer.state.global_step


def steps(run):
    return sorted(int(path.name.removeprefix("checkpoint-")) for path in run.glob("checkpoint-*"))


def state(checkpoint):
    return json.loads((checkpoint / "trainer_state.json").read_text())


def check_best(top):
    run = top / "runs" / "trainer"
    held = state(run / f"checkpoint-{steps(run)[-1]}")["best_model_checkpoint"]
    assert held == str(run / "checkpoint-4")
    assert str(view(top, "branches/trainer/best").resolve()) == held


def train_on(run, checkpoint):
    """Three checkpoints, of which two are kept: the best and the newest."""
    done = 0
    if checkpoint:
        done = state(checkpoint)["global_step"]
    else:
        write_config(run)
    last = done + 3 * EVERY
    assert fresh(train, run, last, checkpoint) == (done, last)
    kept = steps(run)
    assert len(kept) == 2 and kept[-1] == last, kept
    return run / f"checkpoint-{last}", [step for step in kept if step > done]


tuning("trainer", config, train_on, "0.01", "0.005")


@test("the branch's best is the one that the trainer holds for the best, which is not the newest")
def best(top):
    check_best(top)


@after_remount("a new process resumes from the newest checkpoint, and keeps the best")
def remounted(top):
    run = top / "runs" / "trainer"
    newest = steps(run)[-1]
    assert fresh(train, run, newest + EVERY, True) == (newest, newest + EVERY)
    check_best(top)


if __name__ == "__main__":
    main()
